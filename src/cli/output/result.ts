/** The result of a command. */
export interface Result {
  /** The result for scripts, which `--json` prints; `undefined` if the command has printed it already. */
  readonly data: unknown;
  /** The result for people. */
  readonly lines: readonly string[];
  /** Remarks on the result, for standard error. @default none */
  readonly hints?: readonly string[];
  /** Whether the lines are a document, which is printed as it is. @default false */
  readonly isDocument?: boolean;
  /** 1 if the command checked something and found a fault. @default 0 */
  readonly code?: 0 | 1;
}

/** A result that is one sentence. */
export function sentence(text: string, data: unknown, hints: readonly string[] = []): Result {
  return { data, lines: [text], hints };
}

/** A result that is a document of the application. */
export function documentResult(text: string, data: unknown): Result {
  return { data, lines: text.trimEnd().split("\n"), isDocument: true };
}
