import type { AppServices } from "./app-services.ts";
import { currentContext } from "./current-context.ts";

/** The services that code below the application reports to while it works for a request. */
export interface Reporting {
  readonly load: Pick<AppServices["load"], "waited">;
  readonly parts: Pick<AppServices["parts"], "add">;
}

/** The services of the current request; `undefined` outside a request. */
export function reporting(): Reporting | undefined {
  return currentContext()?.services;
}
