import { readJson } from "../../core/read-json.ts";
import type { SocketMessage } from "../../kernel/exchange/socket.ts";
import { isRecord } from "../request/request-params.ts";

/** A message from a client in the `graphql-transport-ws` protocol. */
export type ClientMessage =
  | { readonly type: "connection_init"; readonly payload: Readonly<Record<string, unknown>> }
  | { readonly type: "ping" | "pong"; readonly payload: Readonly<Record<string, unknown>> | undefined }
  | { readonly type: "subscribe"; readonly id: string; readonly payload: Readonly<Record<string, unknown>> }
  | { readonly type: "complete"; readonly id: string };

/** Reads a message; `null` if it is not valid. The pipeline checks the operation inside. */
export function readClientMessage(data: SocketMessage): ClientMessage | null {
  const message = typeof data === "string" ? readJson(data).value : null;
  if (!isRecord(message)) return null;
  const { type, id, payload } = message;
  switch (type) {
    case "connection_init":
      return isAbsent(payload) || isRecord(payload) ? { type, payload: payload ?? {} } : null;
    case "ping":
    case "pong":
      if (!isAbsent(payload) && !isRecord(payload)) return null;
      return { type, payload: data.length > MAX_ECHO_LENGTH ? undefined : (payload ?? undefined) };
    case "subscribe":
      return isId(id) && isRecord(payload) ? { type, id, payload } : null;
    case "complete":
      return isId(id) ? { type, id } : null;
    default:
      return null;
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** A pong repeats the payload of a short ping only: a deeply nested one can be parsed but not serialized. */
const MAX_ECHO_LENGTH = 1_024;

/** Limited because every event repeats it. */
const MAX_ID_LENGTH = 256;

function isId(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_LENGTH;
}
