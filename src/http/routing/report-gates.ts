import type { Logger } from "../../core/logger.ts";
import type { Gate } from "../../kernel/access/gate.ts";
import { type MiddlewareObject, objectOf } from "./middleware.ts";
import { placeOfRoute, type RouteTable } from "./router.ts";

/** Logs at startup which gates can never open, and the warnings of middleware, one line each. */
export function reportGates(log: Logger, { routes, sockets }: RouteTable): void {
  const guarded = [...routes, ...sockets].map((route) => ({ ...route, place: placeOfRoute(route) }));
  const warnings = new Set<string>();
  const closed: string[] = [];
  const unknown = new Map<string, string[]>();
  for (const { auth, middleware, place } of guarded) {
    const objects = middleware.map(objectOf).filter((entry) => entry !== undefined);
    for (const sentence of objects.flatMap((entry) => entry.warnings ?? [])) warnings.add(sentence);
    if (auth === undefined) continue;
    const known = scopesOf(objects);
    if (known === null) {
      if (auth.needsIdentity === true) closed.push(place);
      continue;
    }
    for (const scope of strangers(auth, known)) unknown.set(scope, [...(unknown.get(scope) ?? []), place]);
  }

  for (const sentence of warnings) log.warn({}, sentence);
  if (closed.length > 0)
    log.warn(
      { routes: closed },
      "no authentication middleware runs before these gates, so they reject every caller: add AuthenticationMiddleware, or list the scopes of your custom middleware",
    );
  for (const [scope, places] of unknown)
    log.warn({ scope, routes: places }, `no backend provides the scope "${scope}", so these gates never accept it`);
}

/** The scopes that are available before a route; `null` if there is no authentication. */
function scopesOf(objects: readonly MiddlewareObject[]): readonly string[] | null {
  const lists = objects.flatMap(({ scopes }) => (Array.isArray(scopes) ? [scopes as readonly string[]] : []));
  return lists.length === 0 ? null : lists.flat();
}

function strangers({ scopes }: Gate, known: readonly string[]): readonly string[] {
  return scopes.filter((scope) => !known.includes(scope));
}
