import { fileURLToPath } from "node:url";
import { isInstance } from "../../core/describe-error.ts";
import { packageFile } from "../../core/packages/package-file.ts";
import { CommandFailed } from "../output/command-failed.ts";
import { sentenceOf } from "../output/sentence-of.ts";

/** The failure of code of the project: what failed, why, and the line of the project in which it happened. */
export function projectError(what: string, error: unknown): CommandFailed {
  if (isInstance(error, CommandFailed)) return error;
  const place = isInstance(error, Error) ? placeOf(error) : null;
  return new CommandFailed(`${what}: ${sentenceOf(error)}${place === null ? "" : ` (${place})`}`, { cause: error });
}

/** The first place of the stack that is neither in Node nor in Portico. The stack of a syntax error begins with it. */
function placeOf({ stack = "" }: Error): string | null {
  for (const line of stack.split("\n")) {
    const frame = line.replace("file://", "");
    const place = frame.slice(frame.indexOf("/"));
    const end = /:\d+/.exec(place);
    const isOther = frame.includes("node:") || OWN.some((folder) => place.startsWith(folder));
    if (end !== null && place.startsWith("/") && !isOther) return place.slice(0, end.index + end[0].length);
  }
  return null;
}

const OWN: readonly string[] = ["src/", "dist/", "node_modules/"].map((folder) => fileURLToPath(packageFile(folder)));
