/** One line of the log: what belongs to it, and a sentence. */
export type LogLine = (details: object, sentence: string) => void;

/** What Portico writes its log to. A pino logger is one. */
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
