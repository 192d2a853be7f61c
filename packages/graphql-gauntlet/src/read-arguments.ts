import { isIP } from "node:net";
import { parseArgs } from "node:util";

/** The command line, checked. */
export interface Arguments {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number;
  readonly only: readonly string[];
  readonly isJson: boolean;
  readonly junit: string | undefined;
}

/** The command line is not valid. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

export const USAGE = `Usage: graphql-gauntlet <url> [options]

Sends hostile and boundary requests to a GraphQL server and reports which rules it breaks.

Options:
  -H, --header <name: value>  a header of every request; may be repeated
      --timeout <seconds>     the time in which a response has to be complete (default: 5)
      --only <ids>            run these rows only, such as MEDIA,GET-01; may be repeated
      --json                  print the report as JSON
      --junit <file>          also write the report to a file, as JUnit XML
      --remote                allow a host that is not this machine
      --list                  print the rows and their sources without running them
      --help                  print this text
      --version               print the version

Exit code: 0 if no row failed, 1 if a row failed, 2 if the rows could not be run.
Rows send floods of a few kilobytes: test only servers that you are responsible for.
`;

/** Reads the command line. Throws `UsageError`. */
export function readArguments(args: readonly string[]): Arguments | "help" | "version" | "list" {
  const { values, positionals } = parsed(args);
  if (values.help === true) return "help";
  if (values.version === true) return "version";
  if (values.list === true) return "list";
  const [text, ...rest] = positionals;
  if (text === undefined || rest.length > 0) throw new UsageError("Name exactly one URL");
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw new UsageError(`"${text}" is not an HTTP URL`);
  if (values.remote !== true && !isLoopback(url.hostname))
    throw new UsageError(`${url.hostname} is not this machine. If you are responsible for it, add --remote`);
  const timeoutSeconds = Number(values.timeout ?? 5);
  if (!(timeoutSeconds > 0 && timeoutSeconds <= 600))
    throw new UsageError("--timeout must be a number of seconds from 1 to 600");
  return {
    url: url.href,
    headers: Object.fromEntries((values.header ?? []).map(readHeader)),
    timeoutSeconds,
    only: (values.only ?? []).flatMap((ids) => ids.split(",")).map((id) => id.trim()),
    isJson: values.json === true,
    junit: values.junit,
  };
}

/** Whether a host of a URL is this machine: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "").toLowerCase();
  if (isIP(bare) === 4) return bare.startsWith("127.");
  return bare === "localhost" || bare.endsWith(".localhost") || bare === "::1";
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        header: { type: "string", short: "H", multiple: true },
        timeout: { type: "string" },
        only: { type: "string", multiple: true },
        json: { type: "boolean" },
        junit: { type: "string" },
        remote: { type: "boolean" },
        list: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readHeader(text: string): readonly [name: string, value: string] {
  const colon = text.indexOf(":");
  const name = text.slice(0, Math.max(colon, 0)).trim();
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw new UsageError(`"${text}" is not a header: write "name: value"`);
  return [name, text.slice(colon + 1).trim()];
}
