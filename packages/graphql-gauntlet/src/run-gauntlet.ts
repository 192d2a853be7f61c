import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "./answer.ts";
import { discover, type Found } from "./discover.ts";
import { withHeaders } from "./requests.ts";
import type { Need, Row } from "./row.ts";
import { rows } from "./rows.ts";
import { type HttpRequest, NoResponse, send, type Target } from "./send.ts";
import { talk } from "./talk.ts";

/** The outcome of one row. `advice` is a row that did not pass and is not binding. */
export type Outcome = "passed" | "failed" | "advice" | "skipped";

/** One row and its outcome. */
export interface Result {
  readonly row: Row;
  readonly outcome: Outcome;
  /** The complaint, or the reason why the row was skipped. */
  readonly note?: string;
  readonly seconds: number;
}

/** The outcome of a run. */
export interface Report {
  readonly url: string;
  readonly found: Found;
  readonly results: readonly Result[];
  /** Whether the server stopped responding, so that the rest of the rows was skipped. */
  readonly isDown: boolean;
}

/** Options of a run. */
export interface RunOptions {
  /** Sent with every request, such as an `authorization` header. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** The time in which each response has to be complete. @default 5 */
  readonly timeoutSeconds?: number;
  /** Ids or beginnings of ids, such as `MEDIA` or `GET-01`. @default every row */
  readonly only?: readonly string[];
  /** Called after each row. */
  readonly onResult?: (result: Result) => void;
}

/** A row is sent this often to a busy server. */
const ATTEMPTS = 3;
/** A server that does not respond gets this many timeouts to come back. */
const RECOVERY_TIMEOUTS = 6;

/**
 * Runs the rows against a server, one after the other. Throws `CannotRun` if the server does not execute
 * `{ __typename }`. It does not check the host: the command does.
 *
 * ```ts
 * const { results } = await runGauntlet("http://127.0.0.1:4000/graphql");
 * const failed = results.filter(({ outcome }) => outcome === "failed");
 * ```
 */
export async function runGauntlet(url: string, options: RunOptions = {}): Promise<Report> {
  const target: Target = {
    url: new URL(url),
    headers: lowerCased(options.headers ?? {}),
    timeoutSeconds: options.timeoutSeconds ?? 5,
  };
  const selected = chosen(options.only);
  const withSockets = selected.some((row) => "socket" in row);
  const found = await discover(target, withSockets);
  const results: Result[] = [];
  let isDown = false;
  for (const row of selected) {
    const start = performance.now();
    const judged = isDown ? skipped("the server stopped responding") : await judge(target, row, found);
    const result = { row, ...judged, seconds: (performance.now() - start) / 1_000 };
    if (judged.outcome !== "skipped" && !(await isAlive(target, found))) {
      isDown = true;
      results.push({
        ...result,
        outcome: "failed",
        note: "the server stopped responding correctly to { __typename } after this",
      });
    } else results.push(result);
    const last = results.at(-1);
    if (last !== undefined) options.onResult?.(last);
  }
  return { url: target.url.href, found, results, isDown };
}

/** The rows that the ids and beginnings of ids select. Throws if one of them selects nothing. */
function chosen(only: readonly string[] = []): readonly Row[] {
  const words = only.map((word) => word.toUpperCase());
  const unknown = words.filter((word) => !rows.some((row) => matches(row, word)));
  if (unknown.length > 0) throw new RangeError(`no row has the id ${unknown.join(", ")}`);
  return words.length === 0 ? rows : rows.filter((row) => words.some((word) => matches(row, word)));
}

const matches = ({ id }: Row, word: string): boolean => id === word || id.startsWith(`${word}-`);

type Judged = Pick<Result, "outcome" | "note">;

const skipped = (note: string): Judged => ({ outcome: "skipped", note });

async function judge(target: Target, row: Row, found: Found): Promise<Judged> {
  const missing = (row.needs ?? []).filter((need) => !isMet(need, found));
  if (missing.length > 0) return skipped(missing.map((need) => reasons[need]).join(", "));
  const complaint =
    "socket" in row ? await complaintOfSocket(target, row, found) : await complaintOf(target, row, found);
  if (complaint === undefined) return { outcome: "passed" };
  if (complaint === BUSY) return skipped("the server was busy or limited the rate: 429 or 503");
  return { outcome: row.severity === "must" ? "failed" : "advice", note: complaint };
}

const BUSY = Symbol("busy");

async function complaintOf(
  target: Target,
  row: Extract<Row, { readonly requests: unknown }>,
  found: Found,
): Promise<string | typeof BUSY | undefined> {
  for (const request of row.requests(found)) {
    try {
      const answer = await sendPatiently(target, request);
      if (isBusy(answer)) return BUSY;
      for (const check of row.expect) {
        const complaint = check(answer, found);
        if (complaint !== undefined) return complaint;
      }
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      return error.message;
    }
  }
  return undefined;
}

async function complaintOfSocket(
  target: Target,
  row: Extract<Row, { readonly socket: unknown }>,
  found: Found,
): Promise<string | undefined> {
  const conversation = await talk(target, row.socket);
  for (const check of row.expect) {
    const complaint = check(conversation, found);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

/** A 429 or 503 says nothing about a row, so it is sent again after the time that the server names, at most 2 s. */
async function sendPatiently(target: Target, request: HttpRequest): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await send(target, request);
    if (!isBusy(answer) || attempt === ATTEMPTS) return answer;
    const seconds = Number(answer.headers["retry-after"] ?? 1);
    await sleep(Math.min(Number.isFinite(seconds) ? seconds : 1, 2) * 1_000);
  }
}

const isBusy = ({ status }: Answer): boolean => status === 429 || status === 503;

/** Whether the server still executes `{ __typename }` with the usual result, after it had time to recover. */
async function isAlive(target: Target, found: Found): Promise<boolean> {
  const end = performance.now() + RECOVERY_TIMEOUTS * target.timeoutSeconds * 1_000;
  const request = withHeaders({ accept: "application/graphql-response+json, application/json;q=0.9, */*;q=0.1" });
  for (let isFirst = true; isFirst || performance.now() < end; isFirst = false) {
    try {
      const { data } = await send(target, request);
      if (data !== undefined) return JSON.stringify(data) === JSON.stringify({ __typename: found.queryType });
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error;
      if (!error.isTimeout && !isFirst) return false;
    }
    await sleep(200);
  }
  return false;
}

function isMet(need: Need, found: Found): boolean {
  const met: Readonly<Record<Need, boolean>> = {
    get: found.getHeaders !== null,
    mutation: found.mutation,
    json: found.json,
    batch: found.batch,
    hiddenSchema: !found.introspection,
    openSchema: found.introspection,
    socket: found.socket,
    legacySocket: found.legacySocket,
  };
  return met[need];
}

const reasons: Readonly<Record<Need, string>> = {
  get: "the server executes no queries over GET",
  mutation: "the schema has no mutations",
  json: "the server does not respond with application/json",
  batch: "the server executes no batches",
  hiddenSchema: "introspection is on",
  openSchema: "introspection is off",
  socket: "the server has no WebSocket with graphql-transport-ws",
  legacySocket: "the server has no WebSocket with graphql-ws",
};

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
