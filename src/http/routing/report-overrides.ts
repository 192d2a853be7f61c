import { isProduction } from "../../core/env.ts";
import type { Logger } from "../../core/logger.ts";
import { type Callable, isDeclared } from "../../dependencies/depend.ts";

/** Warns about overrides of functions that nothing depends on, because a test that overrides the wrong one would not notice. */
export function reportOverrides(log: Logger, overridden: Iterable<Callable>): void {
  if (isProduction()) return;
  for (const callable of overridden) {
    if (isDeclared(callable)) continue;
    const name = callable.name === "" ? "an anonymous function" : callable.name;
    log.warn(
      {},
      `app.override(${name}) has no effect: nothing depends on it. Pass the same function you pass to Depend().`,
    );
  }
}
