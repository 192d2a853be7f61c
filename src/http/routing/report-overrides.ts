import { isProduction } from "../../core/env.ts";
import type { Logger } from "../../core/logger.ts";
import { type Callable, isDeclared } from "../../dependencies/depend.ts";

/**
 * Says which of these stand in for what nothing depends on: a test that overrides the wrong function would not know. Not in
 * production, where nothing is tested.
 */
export function reportOverrides(log: Logger, overridden: Iterable<Callable>): void {
  if (isProduction()) return;
  for (const callable of overridden) {
    if (isDeclared(callable)) continue;
    const name = callable.name === "" ? "a function without a name" : callable.name;
    log.warn({}, `override: nothing depends on ${name}, so nothing is replaced: give it the function that Depend has`);
  }
}
