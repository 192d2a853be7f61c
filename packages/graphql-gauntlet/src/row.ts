import type { Answer } from "./answer.ts";
import type { Found } from "./discover.ts";
import type { HttpRequest } from "./send.ts";
import type { Conversation, SocketScript } from "./talk.ts";

/**
 * How binding a row is. Only a broken `must` fails a run: the GraphQL over HTTP specification or a published advisory
 * demands it. A `should` is a recommendation of the specification, an `advice` is good practice.
 */
export type Severity = "must" | "should" | "advice";

/** The text that a row is based on. */
export interface Source {
  /** The section of a specification, or the id of an advisory. */
  readonly name: string;
  readonly url: string;
}

/** A feature of the server without which a row cannot be judged. */
export type Need = "get" | "mutation" | "json" | "batch" | "hiddenSchema" | "openSchema" | "socket" | "legacySocket";

/** Returns a complaint, or undefined if the server behaved as expected. */
export type Check<T = Answer> = (answer: T, found: Found) => string | undefined;

interface RowBase {
  /** Never reused or renumbered. */
  readonly id: string;
  /** The expected behaviour, as a sentence about the server. */
  readonly title: string;
  readonly severity: Severity;
  readonly source: Source;
  /** The damage or the confusion if the server behaves otherwise. */
  readonly why: string;
  readonly needs?: readonly Need[];
}

/** One or more HTTP requests. All responses have to pass all checks. */
export interface HttpRow extends RowBase {
  readonly requests: (found: Found) => readonly HttpRequest[];
  readonly expect: readonly Check[];
}

/** A conversation over a WebSocket. */
export interface SocketRow extends RowBase {
  readonly socket: SocketScript;
  readonly expect: readonly Check<Conversation>[];
}

/** A hostile or boundary input, and the behaviour that is expected. */
export type Row = HttpRow | SocketRow;
