import { ConfigurationError } from "../../core/configuration-error.ts";

/** The location of a database: a server or a file. */
export type DatabaseUrl =
  | { readonly engine: "postgres"; readonly connectionString: string }
  | { readonly engine: "sqlite"; readonly file: string };

const EXPECTED = "postgres://user@host/name, sqlite:<file> or sqlite::memory:";

/** Parses the URL of a database. Throws `ConfigurationError`, which shows the URL without its secrets. */
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

/** The format of other libraries: `host=db password=...`. */
const PASSWORD = /((?:pass(?:word|wd)?|pwd)\s*=\s*)(?:'(?:[^'\\]|\\.)*'|\S+)/gi;

/** Returns the URL without its password and its parameters, which can contain a password as well. */
function withoutSecrets(url: string): string {
  const parameters = url.search(/[?#]/);
  // If an @ follows the parameters, the password has an unencoded ? or #, so everything before the @ may be part of it.
  if (parameters >= 0 && url.lastIndexOf("@") > parameters) return `${schemeOf(url)}***`;
  const shown = url.replace(/[?#].*$/s, "").replace(PASSWORD, "$1***");
  const at = shown.lastIndexOf("@");
  if (at < 0) return shown;
  // A URL that cannot be parsed may have its password anywhere before the @, so everything after the scheme is removed.
  const scheme = schemeOf(shown);
  const [user, ...secret] = shown.slice(scheme.length, at).split(":");
  return `${scheme}${secret.length === 0 ? user : `${user}:***`}${shown.slice(at)}`;
}

function schemeOf(url: string): string {
  return /^[a-z]+:\/\//i.exec(url)?.[0] ?? "";
}
