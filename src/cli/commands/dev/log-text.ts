import type { Paint } from "../../output/paint.ts";
import { printable } from "../../output/printable.ts";

/** A line of the log as pino writes it. */
export interface LogEntry {
  readonly level: number;
  readonly time: number;
  readonly msg?: unknown;
  readonly [detail: string]: unknown;
}

/** The entry that the line is; `null` if the line is other text. */
export function logEntry(line: string): LogEntry | null {
  if (!line.startsWith("{")) return null;
  try {
    const entry = JSON.parse(line) as Partial<LogEntry>;
    return typeof entry.level === "number" && typeof entry.time === "number" ? (entry as LogEntry) : null;
  } catch {
    return null;
  }
}

const NAMES = { 10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" } as const;
const COLORS = { trace: "gray", debug: "gray", info: "green", warn: "yellow", error: "red", fatal: "red" } as const;

/** One readable line: the time, the level, the message and the details. The stack of an error follows it. */
export function logText(entry: LogEntry, paint: Paint): readonly string[] {
  const { level, time, msg: _msg, pid: _pid, hostname: _hostname, err, ...details } = entry;
  const name = NAMES[level as keyof typeof NAMES] ?? "info";
  const rest = Object.entries(details).map(([key, value]) => `${printable(key)}=${valueText(value)}`);
  const clock = new Date(time).toTimeString().slice(0, 8);
  const head = [
    paint("dim", clock),
    paint(COLORS[name], name.padEnd(5)),
    messageOf(entry),
    paint("dim", rest.join(" ")),
  ];
  return [head.join(" ").trimEnd(), ...stackOf(err).map((line) => paint("dim", line))];
}

/** The message of an entry, as one line. */
export function messageOf({ msg }: LogEntry): string {
  return printable(typeof msg === "string" ? msg : valueText(msg ?? ""));
}

function stackOf(error: unknown): readonly string[] {
  const { stack } = (error ?? {}) as { readonly stack?: unknown };
  return typeof stack === "string" ? stack.split("\n").map((line) => `  ${printable(line)}`) : [];
}

function valueText(value: unknown): string {
  const text = typeof value === "string" && /^\S+$/.test(value) ? value : JSON.stringify(value);
  return printable(text);
}
