/** Writes one log line: its details and its message. */
export type LogLine = (details: object, sentence: string) => void;

/** The logger that Portico writes to. A pino logger implements it. */
export interface Logger {
  readonly level: string;
  readonly trace: LogLine;
  readonly debug: LogLine;
  readonly info: LogLine;
  readonly warn: LogLine;
  readonly error: LogLine;
  readonly fatal: LogLine;
  child(bindings: Record<string, unknown>): Logger;
}
