import { createRequire } from "node:module";
import { ConfigurationError } from "../configuration-error.ts";

const require = createRequire(import.meta.url);

/**
 * Loads a package on first use, so that applications that do not use the option do not need it. Throws
 * `ConfigurationError` if it is not installed or not built for this platform.
 */
export function optionalPackage<T>(option: string, name: string): T {
  return installed(option, name, () => require(name) as T);
}

/** Throws `ConfigurationError` if a package that is loaded later, on first use, is not installed. */
export function requirePackage(option: string, name: string): void {
  installed(option, name, () => require.resolve(name));
}

function installed<T>(option: string, name: string, find: () => T): T {
  try {
    return find();
  } catch (cause) {
    const problem = new ConfigurationError(
      option,
      `requires the package ${name}, which could not be loaded. Run: npm install ${name}`,
    );
    problem.cause = cause;
    throw problem;
  }
}
