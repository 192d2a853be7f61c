import { propertySeed, repeatedBy } from "../lab/seeds/property-seed.ts";
import * as fc from "../node_modules/fast-check/lib/fast-check.js";

export * from "../node_modules/fast-check/lib/fast-check.js";

const seed = propertySeed();
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

/** The one of fast-check. Its errors also say how to repeat the run. */
export const assert = ((...given: Parameters<typeof fc.assert>): Promise<void> | void => {
  try {
    const checked = fc.assert(...given);
    return checked instanceof Promise ? checked.catch(rethrow) : checked;
  } catch (error) {
    rethrow(error);
  }
}) as typeof fc.assert;

function rethrow(error: unknown): never {
  if (error instanceof Error) error.message += `\n\n${repeatedBy(seed)}`;
  throw error;
}
