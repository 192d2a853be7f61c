import type { ListeningReport } from "../../../listening-report.ts";
import { type Paint, paintFor } from "../../output/paint.ts";
import { logEntry, logText, messageOf } from "./log-text.ts";
import type { Ended } from "./server-process.ts";

/** Prints what the server does. */
export interface DevOutput {
  line(text: string): void;
  errorLine(text: string): void;
  listening(report: ListeningReport, start: Start): void;
  ended(how: Ended): void;
  stopping(): void;
}

interface Start {
  /** The file whose change restarted the server; `null` for the first start. */
  readonly cause: string | null;
  readonly tookMs: number;
}

interface DevOutputOptions {
  readonly entry: string;
  readonly isJson: boolean;
  readonly isColored: boolean;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
}

const WARNING = 40;

/** For people, or with `--json` one object on each line, among the lines that the server writes. */
export function devOutput(options: DevOutputOptions): DevOutput {
  return options.isJson ? jsonOutput(options) : textOutput(options);
}

function jsonOutput({ print, printError }: DevOutputOptions): DevOutput {
  const event = (name: string, details: object): void => print(JSON.stringify({ event: name, ...details }));
  return {
    line: print,
    errorLine: printError,
    listening: (report, start) => event("listening", { ...report, ...start }),
    ended: (how) => event("ended", how),
    stopping: () => event("stopping", {}),
  };
}

function textOutput({ entry, isColored, print, printError }: DevOutputOptions): DevOutput {
  const paint = paintFor(isColored);
  // The banner repeats the warnings of the startup, which other lines may have moved out of sight.
  const warnings: string[] = [];
  let isListening = false;
  return {
    line: (text) => {
      const found = logEntry(text);
      if (found === null) return print(text);
      const lines = logText(found, paint);
      if (!isListening && found.level >= WARNING) warnings.push(messageOf(found));
      for (const line of lines) print(line);
    },
    errorLine: printError,
    listening: ({ url, pages }, { cause, tookMs }) => {
      isListening = true;
      if (cause !== null) return print(paint("cyan", `restarted in ${tookMs} ms after a change of ${cause}: ${url}`));
      for (const line of bannerLines(entry, url, pages, paint)) print(line);
      for (const warning of warnings) print(`  ${paint("yellow", "warning")} ${warning}`);
      if (warnings.length > 0) print("");
    },
    ended: ({ code, signal }) => {
      warnings.length = 0;
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      printError(paint("red", `${entry} ended ${how}. It starts again when a file changes`));
    },
    stopping: () => print("shutting down"),
  };
}

function bannerLines(entry: string, url: string, pages: ListeningReport["pages"], paint: Paint): readonly string[] {
  const links = [{ name: "API", path: "" }, ...pages];
  const width = Math.max(...links.map(({ name }) => name.length));
  return [
    "",
    `  ${paint("bold", `portico dev ${entry}`)}`,
    "",
    ...links.map(({ name, path }) => `  ${name.padEnd(width)}  ${paint("cyan", `${url}${path}`)}`),
    "",
  ];
}
