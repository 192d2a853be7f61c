import { ConfigurationError } from "../../core/configuration-error.ts";
import { optional, optionRule, resolveOptions, textLike } from "../../core/resolve-options.ts";
import { escapeHtml } from "../../http/html/escape-html.ts";
import { htmlHeaders, sourceHash } from "../../http/html/html-headers.ts";
import { htmlPage } from "../../http/html/html-page.ts";
import { asksForPage } from "../../http/html/parse-accept.ts";
import { renderProblem } from "../../http/messages/render-problem.ts";
import { declareRoute } from "../../http/routing/route.ts";
import { Router } from "../../http/routing/router.ts";
import type { Auth, RoutePlace } from "../../kernel/access/gate.ts";
import { authRule } from "../../kernel/access/read-gate.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import type { RenderError } from "../../kernel/context/messages.ts";
import type { Metrics } from "../metrics.ts";
import { operationsHeaders, operationsHtml } from "./operations-html.ts";
import { OPERATIONS_STYLE } from "./operations-style.ts";

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
      if (!isForBrowser(ctx)) return outgoing.header("cache-control", "no-store").json(metrics.figures());
      for (const [name, value] of Object.entries(operationsHeaders)) outgoing.header(name, value);
      return outgoing.html(page);
    },
  );
  return new Router().add({ ...route, renderError: refuseBrowser(signInUrl) });
}

function isForBrowser({ exchange }: Pick<HttpContext, "exchange">): boolean {
  return asksForPage(exchange.headers.accept, ["application/json"]);
}

/** Renders the rejection of the gate as a page for a browser, and any other error as a problem. */
function refuseBrowser(signInUrl: string | undefined): RenderError {
  return (ctx, error) => {
    renderProblem(ctx, error);
    const { outgoing } = ctx;
    if ((outgoing.code !== 401 && outgoing.code !== 403) || !isForBrowser(ctx)) return;
    for (const [name, value] of Object.entries(refusalHeaders)) outgoing.header(name, value);
    outgoing.vary("Accept");
    outgoing.html(refusalHtml(outgoing.code, signInUrl));
  };
}

/** The page has no script. */
const refusalHeaders: Readonly<Record<string, string>> = {
  ...htmlHeaders({ "style-src": [sourceHash(OPERATIONS_STYLE)], "img-src": ["data:"] }),
  "content-type": "text/html; charset=utf-8",
};

/** The page for a browser that the gate of the operations page rejects. */
function refusalHtml(status: 401 | 403, signInUrl: string | undefined): string {
  const [title, sentence, link] =
    status === 401
      ? ["Sign in", "You must sign in to see this page.", "Sign in"]
      : ["No permission", "Your account has no permission to see this page.", "Sign in with another account"];
  return htmlPage({
    title,
    head: `<style>${OPERATIONS_STYLE}</style>`,
    body: `<main>
<section>
<h1>${title}</h1>
<p>${sentence}</p>
${signInUrl === undefined ? "" : `<p><a href="${escapeHtml(signInUrl)}">${link}</a></p>`}
</section>
</main>`,
  });
}
