import type { Readable } from "node:stream";
import type { TestResponse, TestResponseHeaders } from "./test-response.ts";

/** The options of a test request. */
export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | readonly string[]>>;
  /**
   * Strings and bytes are sent unchanged; `FormData`, `URLSearchParams`, a `Blob` or a stream as `fetch` sends them;
   * anything else as JSON. A `content-type` in `headers` replaces the default one.
   */
  readonly body?: unknown;
}

/** The variables of an operation. */
export type GraphVariables = Readonly<Record<string, unknown>>;

/** A request that is ready to be sent. */
export interface PreparedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
}

/** A response whose body is still being received. */
export interface OpenResponse {
  readonly status: number;
  readonly headers: TestResponseHeaders;
  readonly body: Readable;
}

/** A transport for requests. */
export interface RequestSender {
  readonly send: (request: PreparedRequest) => Promise<TestResponse>;
  /** Resolves as soon as the headers have arrived. */
  readonly open: (request: PreparedRequest) => Promise<OpenResponse>;
}
