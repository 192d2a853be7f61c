import { type Condition, PorticoApp, type PorticoAppOptions } from "portico";
import { routeListOf } from "../../src/kernel/pages/route-list.ts";
import type { ListScope } from "../../src/pagination/handlers/list-scope.ts";
import { SECRET } from "./ways.ts";

type MaybePromise<T> = T | Promise<T>;

/** A rule for one caller, which records how many items it was asked about at once. */
export function scopeOf<T>(
  name: string,
  condition: Condition | null,
  allows: (item: T) => MaybePromise<boolean>,
  asked: number[] = [],
): ListScope {
  return {
    name,
    condition,
    allows: (items) => {
      asked.push(items.length);
      const decisions = items.map((item) => allows(item as T));
      return decisions.some((decision) => typeof decision !== "boolean")
        ? Promise.all(decisions.map(async (decision) => decision))
        : (decisions as boolean[]);
    },
  };
}

/** An application whose lists have a rule. */
export function scopedApp(scope: () => MaybePromise<ListScope>, options: PorticoAppOptions = {}): PorticoApp {
  const app = new PorticoApp({ logger: false, cursorKeys: [SECRET], ...options });
  return app.use(async (ctx, next) => {
    routeListOf.put(ctx, { shown: null, scope, isScoped: false });
    await next();
  });
}
