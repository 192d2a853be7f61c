import { ConfigurationError } from "./configuration-error.ts";

/**
 * The value of an environment variable. Throws `ConfigurationError` with its name when it is missing or empty.
 *
 * @example
 * ```ts
 * import { env } from "portico";
 *
 * const port = Number(env("PORT", "3000"));
 * ```
 *
 * @param fallback what it is when it is missing; without one the variable is required
 */
export function env(name: string, fallback?: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== "") return value;
  if (fallback !== undefined) return fallback;
  throw new ConfigurationError(`the environment variable ${name}`, "set and not empty", value);
}

/** Why the process must not start in this environment, as a sentence about it; `null` if it may. Unset means development. */
export function environmentFault(value: string | undefined): string | null {
  return value === undefined || value === "" || ENVIRONMENTS.includes(value)
    ? null
    : `is ${JSON.stringify(value)}, so defaults are for development. Set it to production, development or test`;
}

const ENVIRONMENTS: readonly string[] = ["production", "development", "test"];

/** Whether this process runs in development, as `portico dev` sets it. */
export function isDevelopment(): boolean {
  return process.env["NODE_ENV"] === "development";
}

/** Whether this process runs in production, where defaults are stricter. */
export function isProduction(): boolean {
  return process.env["NODE_ENV"] === "production";
}
