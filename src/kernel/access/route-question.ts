import type { BaseContext } from "../context/http-context.ts";
import type { CurrentUser } from "../identity/identity.ts";
import type { RoutePlace } from "./gate.ts";
import type { GateQuestion, Verdicts } from "./gate-question.ts";

/** A request, about which the gate of a route or a socket decides. */
export class RouteQuestion implements GateQuestion {
  readonly ctx: BaseContext;
  readonly verdicts: Verdicts | null;
  readonly subject = undefined;
  readonly isAboutSubject = false;

  constructor(ctx: BaseContext, verdicts: Verdicts | null) {
    this.ctx = ctx;
    this.verdicts = verdicts;
  }
  place(): RoutePlace {
    // A gate function is called for signed-in users only, of whichever class the application has registered.
    const ctx = this.ctx as unknown as BaseContext<CurrentUser>;
    return { request: ctx.request, path: pathOf(this.ctx), query: this.ctx.incoming.query, ctx };
  }
}

/**
 * The output of the path schema. A parameter that the schema leaves out cannot be read, because a gate that compares it with
 * `!==` would open.
 */
function pathOf({ incoming, exchange, pattern }: BaseContext): RoutePlace["path"] {
  const params: unknown = incoming.params;
  const output = typeof params === "object" && params !== null ? params : {};
  const missing = Object.keys(exchange.params).filter((name) => !(name in output));
  if (missing.length === 0) return output as RoutePlace["path"];
  const path = Object.create(output) as RoutePlace["path"];
  for (const name of missing)
    Object.defineProperty(path, name, {
      get() {
        throw new Error(`a gate reads the path parameter ${name}, which the path schema of ${pattern} does not return`);
      },
    });
  return path;
}
