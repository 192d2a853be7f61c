import { createHash } from "node:crypto";
import { type Brand, brandOf } from "../../http/html/brand.ts";
import { PAGE_STYLE } from "../../http/html/page-style.ts";
import { joinPath } from "../../http/routing/path-params.ts";
import { Router } from "../../http/routing/router.ts";
import type { PorticoResponse, TypedResponse } from "../../kernel/context/portico-response.ts";
import { NotFound } from "../../kernel/exceptions/http-exception.ts";
import type { AccountRoute } from "../accounts/account-options.ts";
import { accountHtml } from "./account-html.ts";
import { type FormField, formHtml, linkHtml } from "./form-html.ts";
import { type PageContent, pageHeaders, pageHtml } from "./page-html.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { type PageOptions, type PageSite, pageSite } from "./page-site.ts";
import { EMAIL_FIELD, NEW_PASSWORD_FIELD, registerHtml } from "./register-html.ts";
import { secondFactorHtml, signInHtml } from "./sign-in-html.ts";

/** A page of a path. The query decides between the steps of a sign-in or a reset. */
interface Page {
  readonly path: string;
  /** The page exists only if the application has this account route. */
  readonly needs?: AccountRoute;
  readonly write: (site: PageSite, query: Query) => PageContent;
}

interface Query {
  readonly hasToken: boolean;
  readonly isSecondFactor: boolean;
}

/**
 * The pages for the account routes, at the paths that the options name. A page that is a URL of another site is
 * left out.
 *
 * @param accounts the path of the account routes
 */
export function accountPages(options: PageOptions, accounts: string): Router {
  const router = new Router();
  const folder = joinPath(accounts, "/pages");
  const script = file("js", PAGE_SCRIPT);
  let styled: { readonly brand: Brand; readonly style: PageFile } | null = null;
  const styleOf = (brand: Brand): PageFile => {
    if (styled?.brand !== brand) styled = { brand, style: file("css", PAGE_STYLE + brand.style) };
    return styled.style;
  };
  router.get(`${folder}/:file`, { openapi: false }, ({ ctx, request, response }) => {
    const files = [script, styleOf(brandOf.of(ctx.services))];
    const found = files.find(({ name }) => name === request.params["file"]);
    if (found === undefined) throw new NotFound();
    return sendFile(response, found);
  });
  for (const { path, needs, write } of pagesOf(options)) {
    if (!path.startsWith("/") || (needs !== undefined && options.except.includes(needs))) continue;
    router.get(path, { openapi: false }, ({ ctx, request, response }) => {
      const { token, error } = request.query;
      const [target = ""] = ctx.exchange.target.split("?", 1);
      const brand = brandOf.of(ctx.services);
      const site = pageSite(options, brand, accounts, path, target.endsWith("/"));
      const content = write(site, {
        hasToken: token !== undefined,
        isSecondFactor: error === "second_factor_required",
      });
      const files = { script: `${folder}/${script.name}`, style: `${folder}/${styleOf(brand).name}` };
      for (const [name, value] of Object.entries(pageHeaders(brand))) response.header(name, value);
      return response.html(pageHtml(site, files, content));
    });
  }
  return router;
}

function pagesOf(options: PageOptions): readonly Page[] {
  const { signInPage, registerPage, accountPage, resetPage, verifyPage, emailPage, signInLinkPage } = options;
  return [
    {
      path: signInPage,
      write: (site, { isSecondFactor }) =>
        isSecondFactor
          ? { title: "Second factor", body: secondFactorHtml(site) }
          : { title: "Sign in", body: signInHtml(site) },
    },
    {
      path: registerPage,
      needs: "register",
      write: (site) => ({ title: "Create an account", body: registerHtml(site) }),
    },
    {
      path: accountPage,
      needs: "me",
      write: (site) => ({ title: "Your account", body: accountHtml(site), isWide: true }),
    },
    mailPage(resetPage, "reset", "Reset your password", "reset"),
    mailPage(verifyPage, "verify", "Confirm your email address", "verify"),
    mailPage(emailPage, "email", "Change your email address", "email"),
    ...(options.signInMails ? [mailPage(signInLinkPage, "sign-in-mails", "Sign in", "sign-in")] : []),
  ];
}

/** A page that links in emails open. */
function mailPage(path: string, needs: AccountRoute, title: string, kind: MailLinkKind): Page {
  return { path, needs, write: (site, { hasToken }) => ({ title, body: mailLinkHtml(site, kind, hasToken) }) };
}

interface PageFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** The name changes with the content, so clients may cache the file without a limit. */
function file(ending: "js" | "css", text: string): PageFile {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { name: `${hash}.${ending}`, type: `text/${ending === "js" ? "javascript" : "css"}; charset=utf-8`, text };
}

function sendFile(response: PorticoResponse, { type, text }: PageFile): TypedResponse<unknown, number> {
  response
    .header("cache-control", "public, max-age=31536000, immutable")
    .header("x-content-type-options", "nosniff")
    .header("cross-origin-resource-policy", "same-origin");
  return response.bytes(Buffer.from(text), type);
}

/** The reason for an email with a link. */
type MailLinkKind = "reset" | "verify" | "email" | "sign-in";

/**
 * The page that a link in an email opens. It waits for a click, because mail scanners open links. Without a token, the
 * pages for a password reset and for the email address send a new link.
 */
function mailLinkHtml({ options, link }: PageSite, kind: MailLinkKind, hasToken: boolean): string {
  return [FORMS[kind](hasToken), linkHtml(link(options.signInPage), "Go to the sign-in page")].join("\n");
}

/** Not required: a signed-in user keeps the password, and someone else may have registered the address. */
const PASSWORD_FIELD: FormField = {
  name: "password",
  label: "Your password, if you are not signed in (without it, you set a new one)",
  type: "password",
  autocomplete: "current-password",
  isOptional: true,
};

const FORMS: Readonly<Record<MailLinkKind, (hasToken: boolean) => string>> = {
  reset: (hasToken) =>
    hasToken
      ? formHtml("reset", "Set the password", [{ ...NEW_PASSWORD_FIELD, isFocused: true }])
      : formHtml("reset-request", "Send me a link", [EMAIL_FIELD]),
  verify: (hasToken) =>
    hasToken
      ? formHtml("verify", "Confirm my email address", [PASSWORD_FIELD])
      : formHtml("verify-request", "Send me a link", [EMAIL_FIELD]),
  email: () => formHtml("email-confirm", "Change my email address"),
  "sign-in": () => formHtml("sign-in-link", "Sign in"),
};
