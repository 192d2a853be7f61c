import { createRequire } from "node:module";
import { ConfigurationError } from "../../core/configuration-error.ts";

const require = createRequire(import.meta.url);

/**
 * A package of native code, loaded when it is first needed: whoever hashes no passwords needs none. Throws
 * `ConfigurationError` when it is not there, or not for this machine.
 */
export function nativePackage<T>(option: string, name: string): T {
  try {
    return require(name) as T;
  } catch (cause) {
    const problem = new ConfigurationError(
      option,
      `needs the package ${name}, which cannot be loaded: npm install ${name}`,
    );
    problem.cause = cause;
    throw problem;
  }
}
