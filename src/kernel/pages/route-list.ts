import { FeatureSlot } from "../../core/feature-slot.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { ListScope } from "../../pagination/handlers/list-scope.ts";
import type { ShownKind } from "../../pagination/strategies/shown-kind.ts";

/** The list that a route declares. */
export interface RouteList {
  /** The columns that its items show to clients; `null` if no schema says so. */
  readonly shown: ReadonlyMap<string, ShownKind | null> | null;
  /** Determines the part of the list that the caller may see; `null` if no rule restricts it. */
  readonly scope: (() => MaybePromise<ListScope>) | null;
  /** Whether a page was restricted to that part. */
  isScoped: boolean;
}

export const routeListOf: FeatureSlot<RouteList | null> = new FeatureSlot<RouteList | null>(null);
