import type { Known } from "./known.ts";
import type { Tape } from "./tape.ts";

/** Bytes that are written to a connection at once. */
export interface Piece {
  readonly bytes: Buffer;
  /** Whether the next piece waits until the server has sent something. */
  readonly awaitsReply?: boolean;
}

/** One input of the fuzzer: what a client sends over one connection, or over many at once. */
export interface Input {
  readonly pieces: readonly Piece[];
  /** What the client does after the last piece. */
  readonly ending: "wait" | "half-close" | "disconnect";
  /** The number of requests or messages in it, for the bound on CPU time. */
  readonly requests: number;
  /** Whether the server must respond, because the input is a well-formed request. */
  readonly isAnswered?: boolean;
  /** The number of connections that send it at the same time. @default 1 */
  readonly copies?: number;
}

/** Makes an input from the random numbers of a tape. */
export interface Generator {
  readonly name: string;
  /** The number of inputs that are sent at the same time. */
  readonly groupSize: number;
  readonly make: (tape: Tape, known: Known) => Input;
}

export function sizeOf({ pieces, copies = 1 }: Input): number {
  return copies * pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
