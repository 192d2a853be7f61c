import { ConfigurationError } from "../../core/configuration-error.ts";
import type { PageRequest } from "../../pagination/pages/page-request.ts";

export type ScopeValues = Readonly<Record<string, unknown>>;

/** Reads the option `cursorScope`, an object or a function that returns one. */
export function readScope(option: string, scope: unknown): (of: object) => PageRequest["cursorScope"] {
  if (typeof scope === "function") return scope as (of: object) => ScopeValues;
  if (scope !== undefined && (typeof scope !== "object" || scope === null || Array.isArray(scope)))
    throw new ConfigurationError(option, "an object, or a function that returns one", scope);
  return () => scope as PageRequest["cursorScope"];
}
