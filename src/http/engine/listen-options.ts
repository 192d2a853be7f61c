import { ConfigurationError } from "../../core/configuration-error.ts";
import { optional, optionRule, resolveOptions, text } from "../../core/resolve-options.ts";

const OWNER = "PorticoApp.listen";
const listenRules = {
  port: optional(
    optionRule<number>(
      "an integer from 0 to 65535",
      (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
    ),
    Number.NaN,
  ),
  host: optional(text, "127.0.0.1"),
};

/** Where an application listens. */
export interface ListenOptions {
  readonly port: number;
  readonly host: string;
}

/** Throws `ConfigurationError` for a port that isn't one, such as `Number("abc")`, or is left out. */
export function readListenOptions(given: unknown): ListenOptions {
  const options = resolveOptions(OWNER, given, listenRules);
  if (Number.isNaN(options.port)) throw new ConfigurationError(`${OWNER}.port`, listenRules.port.expected, undefined);
  return options;
}

/** What is wrong with the port or the host, from the error of the system. Other errors are returned as they are. */
export function listenFailure(error: unknown, { port, host }: ListenOptions): unknown {
  const failure = problemOf((error as NodeJS.ErrnoException).code, port, host);
  if (failure === null) return error;
  failure.cause = error;
  return failure;
}

function problemOf(code: string | undefined, port: number, host: string): ConfigurationError | null {
  switch (code) {
    case "EADDRINUSE":
      return new ConfigurationError(`${OWNER}.port`, `is ${port}, which another process on ${host} already uses`);
    case "EACCES":
      return new ConfigurationError(`${OWNER}.port`, `is ${port}, which this process is not allowed to open`);
    case "EADDRNOTAVAIL":
      return new ConfigurationError(`${OWNER}.host`, `is ${host}, which is not an address of this machine`);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new ConfigurationError(`${OWNER}.host`, `is ${host}, which can't be resolved to an address`);
    default:
      return null;
  }
}
