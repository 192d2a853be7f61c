import { ConfigurationError } from "../../core/configuration-error.ts";
import { integerFrom, optional, resolveOptions, text } from "../../core/resolve-options.ts";

const OWNER = "PorticoApp.listen";
const listenRules = {
  port: { ...integerFrom(0, 65_535), expected: "an integer from 0 to 65535" },
  host: optional(text, "127.0.0.1"),
};

/** Where an application listens. */
export interface ListenOptions {
  readonly port: number;
  readonly host: string;
}

/** Throws `ConfigurationError` for a port that isn't one, such as `Number("abc")`, or is left out. */
export function readListenOptions(given: unknown): ListenOptions {
  const { port, host } = resolveOptions(OWNER, given, listenRules);
  if (port === undefined) throw new ConfigurationError(`${OWNER}.port`, listenRules.port.expected, port);
  return { port, host };
}

/** Names the port or the host that the error of the system is about. Other errors are returned as they are. */
export function listenFailure(error: unknown, options: ListenOptions): unknown {
  const found = problems.get((error as NodeJS.ErrnoException).code);
  if (found === undefined) return error;
  const [option, problem] = found;
  const failure = new ConfigurationError(`${OWNER}.${option}`, `is ${options[option]}, ${problem(options)}`);
  failure.cause = error;
  return failure;
}

const isUnknown = (): string => "which can't be resolved to an address";
type Problem = readonly [option: keyof ListenOptions, describe: (options: ListenOptions) => string];
const problems: ReadonlyMap<unknown, Problem> = new Map<unknown, Problem>([
  ["EADDRINUSE", ["port", ({ host }) => `which is already in use on ${host}`]],
  ["EACCES", ["port", () => "which this process is not allowed to open"]],
  ["EADDRNOTAVAIL", ["host", () => "which is not an address of this machine"]],
  ["ENOTFOUND", ["host", isUnknown]],
  ["EAI_AGAIN", ["host", isUnknown]],
]);
