import { ConfigurationError } from "../../core/configuration-error.ts";
import { optional, optionRule, resolveOptions, textLike } from "../../core/resolve-options.ts";
import { brandOf } from "../../http/html/brand.ts";
import { isForBrowser, renderProblem } from "../../http/messages/render-problem.ts";
import { writeErrorPage } from "../../http/messages/write-error-page.ts";
import { declareRoute } from "../../http/routing/route.ts";
import { Router } from "../../http/routing/router.ts";
import type { Auth, RoutePlace } from "../../kernel/access/gate.ts";
import { authRule } from "../../kernel/access/read-gate.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import type { RenderError } from "../../kernel/context/messages.ts";
import type { Metrics } from "../metrics.ts";
import { operationsHeaders, operationsHtml } from "./operations-html.ts";

/** The options of the operations page. */
export interface OperationsPageOptions {
  /** The gate of the page and of its data; `false` allows anyone who can reach the address. */
  readonly auth: Auth<RoutePlace>;
  /** How often an open page fetches the data, in seconds from 0.5 to 60. @default 2 */
  readonly refreshSeconds?: number;
  /** The address of the page where users sign in. A browser that the gate rejects gets a link to it. */
  readonly signInUrl?: string;
}

const pageRules = {
  auth: authRule,
  refreshSeconds: optional(
    optionRule<number>(
      "a number of seconds from 0.5 to 60",
      (value) => typeof value === "number" && value >= 0.5 && value <= 60,
    ),
    2,
  ),
  // Any other scheme, such as javascript:, would run in the page of the application.
  signInUrl: textLike("a path such as /sign-in, or an http or https URL", /^(?:\/(?!\/)|https?:\/\/)/),
};

/**
 * A page that shows the busiest, slowest and most failing operations and routes, and how they change while it is open. It
 * displays the totals of a `Metrics`, so it shows this process only. One address serves both: browsers receive the page, and
 * clients that request JSON receive `metrics.figures()`.
 *
 * @example
 * ```ts
 * import { Metrics, operationsPage, PorticoApp } from "portico";
 * import { useAuth } from "portico/auth";
 *
 * const metrics = new Metrics();
 * const app = new PorticoApp().onRequest(metrics);
 * const auth = useAuth({ permissions: ["read:metrics"] });
 * app.mount("/operations", operationsPage(metrics, { auth, signInUrl: "/sign-in" }));
 * ```
 */
export function operationsPage(metrics: Pick<Metrics, "figures">, options: OperationsPageOptions): Router {
  const { auth, refreshSeconds, signInUrl } = resolveOptions("operationsPage", options, pageRules);
  if (auth === undefined) throw new ConfigurationError("operationsPage.auth", authRule.expected, auth);
  const page = operationsHtml(refreshSeconds);
  const route = declareRoute(
    "GET",
    "/",
    { openapi: false, auth: auth as true },
    ({ ctx }: { readonly ctx: HttpContext }) => {
      const { outgoing } = ctx;
      outgoing.header("vary", "Accept");
      if (!isForBrowser(ctx.exchange)) return outgoing.header("cache-control", "no-store").json(metrics.figures());
      for (const [name, value] of Object.entries(operationsHeaders)) outgoing.header(name, value);
      return outgoing.html(page);
    },
  );
  return new Router().add({ ...route, renderError: refuseBrowser(signInUrl) });
}

/** Adds a link to the page for a browser that the gate rejects. */
function refuseBrowser(signInUrl: string | undefined): RenderError {
  return (ctx, error) => {
    renderProblem(ctx, error);
    const status = ctx.outgoing.code;
    if (signInUrl === undefined || (status !== 401 && status !== 403) || !isForBrowser(ctx.exchange)) return;
    const { signIn, signInAsOther } = brandOf.of(ctx.services).texts.errors;
    const text = status === 401 ? signIn : signInAsOther;
    writeErrorPage(ctx, status, { link: { href: signInUrl, text } });
  };
}
