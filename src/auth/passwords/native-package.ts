import { createRequire } from "node:module";
import { ConfigurationError } from "../../core/configuration-error.ts";

const require = createRequire(import.meta.url);

/**
 * Loads a native package on first use, so that applications that hash no passwords do not need it. Throws
 * `ConfigurationError` if it is not installed or not built for this platform.
 */
export function nativePackage<T>(option: string, name: string): T {
  try {
    return require(name) as T;
  } catch (cause) {
    const problem = new ConfigurationError(
      option,
      `requires the package ${name}, which could not be loaded. Run: npm install ${name}`,
    );
    problem.cause = cause;
    throw problem;
  }
}
