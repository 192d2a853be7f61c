import { expect } from "vitest";
import { exchange, type WireAnswer, type WireRequest } from "./wire.ts";

/** The rows of one section: each title has the id and a few words, and the function replays it. */
export type Rows = Readonly<Record<string, () => Promise<void>>>;
export type Header = readonly [name: string, value: string];

/** The possible content of a response: a page, a problem or a GraphQL result. */
interface Said {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly errors?: readonly SaidError[];
  readonly extensions?: { readonly cost?: Readonly<Record<string, number>> };
  readonly code?: string;
  readonly detail?: string;
  readonly parameter?: string;
  readonly items?: readonly { readonly id: string }[];
  readonly pagination?: Pagination;
}
interface SaidError {
  readonly message: string;
  readonly extensions: { readonly code: string; readonly correlationId: string };
}
export interface Pagination {
  readonly total_items: number | null;
  readonly total_pages?: number;
  readonly page?: number;
  readonly page_size?: number;
  readonly limit?: number;
  readonly current_page?: number;
  readonly has_more?: boolean;
  readonly next_cursor?: string | null;
  readonly prev_cursor?: string | null;
  readonly links: Readonly<Partial<Record<"first" | "prev" | "next" | "last", string>>>;
}

/** A response that has passed the checks that hold for every input. */
export interface Answer extends WireAnswer {
  /** The parsed body, or nothing if it is not JSON. */
  readonly said: Said;
  /** Status and code: "400 BAD_REQUEST". */
  readonly verdict: string;
}

export const JSON_TYPE: Header = ["content-type", "application/json"];

/** Sends a request and checks rules that hold for every response. */
export async function sendTo(port: number, path: string, request: WireRequest = {}): Promise<Answer> {
  const answer = await exchange(port, path, request);
  expect(answer.status, answer.text).toBeLessThan(500);
  if (!answer.headers["content-type"]?.includes("html"))
    expect(answer.text).not.toMatch(/\\n\s+at |\.(?:ts|js):\d+:\d+|node_modules|file:\/\//);
  if (answer.status === 401) expect(answer.headers["www-authenticate"]).toBeDefined();
  if (answer.status === 401 || answer.status === 403) expect(answer.headers["cache-control"]).toContain("no-store");
  const said = (
    answer.headers["content-type"]?.includes("json") && answer.text !== "" ? JSON.parse(answer.text) : {}
  ) as Said;
  const code = said.errors?.[0]?.extensions?.code ?? said.code;
  return { ...answer, said, verdict: code === undefined ? `${answer.status}` : `${answer.status} ${code}` };
}
