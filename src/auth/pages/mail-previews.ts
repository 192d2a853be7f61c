import { type Brand, brandOf } from "../../http/html/brand.ts";
import { escapeHtml } from "../../http/html/escape-html.ts";
import { htmlHeaders, sourceHash } from "../../http/html/html-headers.ts";
import { htmlPage } from "../../http/html/html-page.ts";
import { PAGE_STYLE } from "../../http/html/page-style.ts";
import { declareRoute } from "../../http/routing/route.ts";
import type { Router } from "../../http/routing/router.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import { mailContent } from "../accounts/mail-content.ts";
import type { Mail } from "../accounts/mailer.ts";

/** Every kind of email, with sample values. */
function samples({ texts }: Brand): readonly Mail[] {
  const { ignore: _ignore, notYou: _notYou, code: _code, ...kinds } = texts.mails;
  return (Object.keys(kinds) as Mail["kind"][]).map((kind) => ({
    to: "someone@example.org",
    kind,
    url: "action" in kinds[kind] ? "https://example.org/page?token=a-sample-that-opens-nothing" : null,
    ...(kind === "sign_in" || kind === "verify" ? { code: "12345678" } : {}),
    ...(kind === "new_device" ? { device: "Firefox on Linux" as const } : {}),
    ...(kind === "provider_linked" || kind === "provider_unlinked" ? { provider: "github" } : {}),
  }));
}

/** Shows every email of the application in its texts and colours, to its developers: `accountPages` adds it in development. */
export function mailPreviews(router: Router, path: string): void {
  const options = { openapi: false, auth: false };
  const route = declareRoute("GET", path, options, ({ ctx, request }: Shown) => {
    const brand = brandOf.of(ctx.services);
    const mail = samples(brand).find(({ kind }) => kind === request.query["html"]);
    // Mail programs know attributes better than style sheets, so the emails have both. Beside a hash, they would not be allowed.
    const styles = mail === undefined ? [sourceHash(PAGE_STYLE), brand.styleSource] : ["'unsafe-inline'"];
    const headers = htmlHeaders({ "style-src": styles, "img-src": brand.imageSources });
    for (const [name, value] of Object.entries(headers)) ctx.outgoing.header(name, value);
    return ctx.outgoing.html(mail === undefined ? listHtml(brand) : mailContent(mail, brand).html);
  });
  router.add({ ...route, pageName: "Emails" });
}

interface Shown {
  readonly ctx: HttpContext;
  readonly request: PorticoRequest;
}

function listHtml(brand: Brand): string {
  const parts = samples(brand).map((mail) => {
    const { subject, text } = mailContent(mail, brand);
    return `<section>
<h2>${escapeHtml(subject)}</h2>
<p class="quiet"><code>${mail.kind}</code> <a href="?html=${mail.kind}">HTML</a></p>
<pre>${escapeHtml(text)}</pre>
</section>`;
  });
  return htmlPage({
    title: "Emails",
    head: `<style>${PAGE_STYLE}</style>\n<style>${brand.style}</style>`,
    attributes: ' class="wide"',
    body: `${brand.header}<main>\n<h1>Emails</h1>\n${parts.join("\n")}\n</main>`,
  });
}
