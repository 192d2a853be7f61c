import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { callable, flag, listOf, resolveOptions, thing } from "../../core/resolve-options.ts";
import { CommandFailed, UsageError } from "../output/command-failed.ts";
import type { PorticoConfig } from "./portico-config.ts";
import { projectError } from "./project-error.ts";

const NAMES = ["portico.config.ts", "portico.config.js", "portico.config.mjs"];

/** Reads the given file, or the configuration in the directory. Returns `{}` if there is none. */
export async function loadConfig(cwd: string, given: string | undefined): Promise<PorticoConfig> {
  const file = given === undefined ? NAMES.map((name) => join(cwd, name)).find(existsSync) : resolve(cwd, given);
  if (file === undefined) return {};
  if (!existsSync(file)) throw new UsageError(`--config ${given}: the file does not exist`);
  const { default: config } = await importModule(cwd, file);
  if (config === undefined)
    throw new CommandFailed(`${file} has no default export. It must export an object, such as { app: () => app }`);
  const resolved = resolveOptions("portico.config", config, rules) as PorticoConfig;
  if (resolved.roles !== undefined && resolved.userTables === false)
    throw new ConfigurationError("portico.config.roles", "requires the tables of userModel: remove userTables: false");
  return resolved;
}

/** Imports a module of the project. */
export async function importModule(cwd: string, file: string): Promise<Readonly<Record<string, unknown>>> {
  const name = relative(cwd, file) || file;
  try {
    return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    // Node 22 strips types by default since 22.18.
    if ((error as { code?: unknown }).code === "ERR_UNKNOWN_FILE_EXTENSION")
      throw new CommandFailed(`${name}: this version of Node does not run TypeScript. Use Node 22.18 or later`);
    throw projectError(`${name} could not be loaded`, error);
  }
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const rules = {
  app: callable,
  database: thing("a URL, or a database from openDatabase()", isDatabase),
  users: thing("a user model", (value) => isObject(value) || typeof value === "function"),
  migrations: listOf("a list of migrations", isObject),
  roles: thing("an object with a list of permissions for each role", isRoles),
  userTables: flag,
  attack: thing("an object with identities, skip or timeoutMs", isObject),
};

function isRoles(value: unknown): boolean {
  const lists = isObject(value) ? Object.values(value as object) : [null];
  return lists.every((list) => Array.isArray(list) && list.every((name) => typeof name === "string"));
}

function isDatabase(value: unknown): boolean {
  return typeof value === "string" || typeof (value as { destroy?: unknown } | null)?.destroy === "function";
}
