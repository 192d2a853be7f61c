import type { SocketMessage } from "../../http/context/socket.ts";
import { isRecord } from "../transport/request-params.ts";

/** What a client may say on a socket that speaks `graphql-transport-ws`. */
export type ClientMessage =
  | { readonly type: "connection_init"; readonly payload: Readonly<Record<string, unknown>> }
  | { readonly type: "ping" | "pong"; readonly payload: Readonly<Record<string, unknown>> | undefined }
  | { readonly type: "subscribe"; readonly id: string; readonly payload: Readonly<Record<string, unknown>> }
  | { readonly type: "complete"; readonly id: string };

/** Reads a message; `null` for what is none. What an operation looks like is the pipeline's business. */
export function readClientMessage(data: SocketMessage): ClientMessage | null {
  const message = typeof data === "string" ? parse(data) : null;
  if (!isRecord(message)) return null;
  const { type, id, payload } = message;
  switch (type) {
    case "connection_init":
      return isAbsent(payload) || isRecord(payload) ? { type, payload: payload ?? {} } : null;
    case "ping":
    case "pong":
      if (!isAbsent(payload) && !isRecord(payload)) return null;
      return { type, payload: data.length > LONGEST_ECHO ? undefined : (payload ?? undefined) };
    case "subscribe":
      return isId(id) && isRecord(payload) ? { type, id, payload } : null;
    case "complete":
      return isId(id) ? { type, id } : null;
    default:
      return null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** A ping is answered with what it brought, where that is little: what is nested deeply can be read and not be written. */
const LONGEST_ECHO = 1_024;

/** It is said again with every event. */
const LONGEST_ID = 256;

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= LONGEST_ID;
}
