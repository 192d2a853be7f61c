import { ConfigurationError } from "../../core/configuration-error.ts";

/** Where a database is: a server, or a file. */
export type DatabaseUrl =
  | { readonly engine: "postgres"; readonly connectionString: string }
  | { readonly engine: "sqlite"; readonly file: string };

const EXPECTED = "postgres://user@host/name, sqlite:<file> or sqlite::memory:";

/** Reads the URL of a database. Throws `ConfigurationError`, which names the URL without what is secret in it. */
export function parseDatabaseUrl(url: unknown): DatabaseUrl {
  if (typeof url !== "string") throw new ConfigurationError("openDatabase.url", EXPECTED, url);
  if (/^postgres(?:ql)?:/.test(url)) {
    if (!URL.canParse(url)) throw new ConfigurationError("openDatabase.url", EXPECTED, withoutSecrets(url));
    return { engine: "postgres", connectionString: url };
  }
  const file = url.startsWith("sqlite:") ? url.slice("sqlite:".length).replace(/^\/\//, "") : "";
  if (file === "") throw new ConfigurationError("openDatabase.url", EXPECTED, withoutSecrets(url));
  return { engine: "sqlite", file };
}

/** As other libraries write it: `host=db password=...`. */
const PASSWORD = /((?:pass(?:word|wd)?|pwd)\s*=\s*)(?:'(?:[^'\\]|\\.)*'|\S+)/gi;

/** The URL as it may be shown: without a password, and without parameters, which can hold one as well. */
function withoutSecrets(url: string): string {
  const parameters = url.search(/[?#]/);
  // An @ behind them: the password has a ? or # that is not encoded, so nothing before the @ is known to be no part of it.
  if (parameters >= 0 && url.lastIndexOf("@") > parameters) return `${schemeOf(url)}***`;
  const shown = url.replace(/[?#].*$/s, "").replace(PASSWORD, "$1***");
  const at = shown.lastIndexOf("@");
  if (at < 0) return shown;
  // From the scheme, or from the start: a URL that cannot be parsed may have its password anywhere before the @.
  const scheme = schemeOf(shown);
  const [user, ...secret] = shown.slice(scheme.length, at).split(":");
  return `${scheme}${secret.length === 0 ? user : `${user}:***`}${shown.slice(at)}`;
}

function schemeOf(url: string): string {
  return /^[a-z]+:\/\//i.exec(url)?.[0] ?? "";
}
