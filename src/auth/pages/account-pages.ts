import { isDevelopment } from "../../core/env.ts";
import { type Brand, brandOf } from "../../http/html/brand.ts";
import type { PageTexts } from "../../http/html/page-texts.ts";
import { joinPath } from "../../http/routing/path-params.ts";
import { Router } from "../../http/routing/router.ts";
import { NotFound } from "../../kernel/exceptions/http-exception.ts";
import type { AccountRoute } from "../accounts/account-options.ts";
import { accountHtml } from "./account-html.ts";
import { type FormField, formHtml, linkHtml } from "./form-html.ts";
import { mailPreviews } from "./mail-previews.ts";
import { type PageFiles, pageFiles, sendFile } from "./page-files.ts";
import { type PageContent, pageHeaders, pageHtml } from "./page-html.ts";
import { type PageOptions, type PageSite, pageSite } from "./page-site.ts";
import { emailField, newPasswordField, registerHtml } from "./register-html.ts";
import { secondFactorHtml, signInHtml } from "./sign-in-html.ts";
import { stepUpHtml } from "./step-up-html.ts";

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
  let made: PageFiles | null = null;
  const filesOf = (brand: Brand): PageFiles => {
    if (made?.brand !== brand) made = pageFiles(brand, options);
    return made;
  };
  router.get(`${folder}/:file`, { openapi: false }, ({ ctx, request, response }) => {
    const { script, style } = filesOf(brandOf.of(ctx.services));
    const found = [script, style].find(({ name }) => name === request.params["file"]);
    if (found === undefined) throw new NotFound();
    return sendFile(response, found);
  });
  if (isDevelopment()) mailPreviews(router, `${folder}/mails`);
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
      const { script, style } = filesOf(brand);
      const paths = { script: `${folder}/${script.name}`, style: `${folder}/${style.name}` };
      for (const [name, value] of Object.entries(pageHeaders(brand))) response.header(name, value);
      return response.html(pageHtml(site, paths, content));
    });
  }
  return router.builtIn();
}

function pagesOf(options: PageOptions): readonly Page[] {
  const { signInPage, registerPage, accountPage, stepUpPage, resetPage, verifyPage, emailPage, signInLinkPage } =
    options;
  return [
    {
      path: signInPage,
      write: (site, { isSecondFactor }) =>
        isSecondFactor
          ? { title: site.texts.secondFactor.title, body: secondFactorHtml(site) }
          : { title: site.texts.signIn.title, body: signInHtml(site) },
    },
    {
      path: registerPage,
      needs: "register",
      write: (site) => ({ title: site.texts.register.title, body: registerHtml(site) }),
    },
    {
      path: accountPage,
      needs: "me",
      write: (site) => ({ title: site.texts.account.title, body: accountHtml(site), isWide: true }),
    },
    {
      path: stepUpPage,
      needs: "me",
      write: (site) => ({ title: site.texts.stepUp.title, body: stepUpHtml(site) }),
    },
    mailPage(resetPage, "reset", "reset"),
    mailPage(verifyPage, "verify", "verify"),
    mailPage(emailPage, "email", "changeEmail"),
    ...(options.signInMails ? [mailPage(signInLinkPage, "sign-in-mails", "signInLink")] : []),
  ];
}

/** A page that links in emails open. */
function mailPage(path: string, needs: AccountRoute, kind: MailLinkKind): Page {
  return {
    path,
    needs,
    write: (site, { hasToken }) => ({ title: site.texts[kind].title, body: mailLinkHtml(site, kind, hasToken) }),
  };
}

/** The reason for an email with a link. */
type MailLinkKind = "reset" | "verify" | "changeEmail" | "signInLink";

/**
 * The page that a link in an email opens. It waits for a click, because mail scanners open links. Without a token, the
 * pages for a password reset and for the email address send a new link.
 */
function mailLinkHtml({ options, link, texts }: PageSite, kind: MailLinkKind, hasToken: boolean): string {
  return [FORMS[kind](texts, hasToken), linkHtml(link(options.signInPage), texts.toSignIn)].join("\n");
}

/** Not required: a signed-in user keeps the password, and someone else may have registered the address. */
function passwordField({ verify }: PageTexts): FormField {
  return {
    name: "password",
    label: verify.password,
    type: "password",
    autocomplete: "current-password",
    isOptional: true,
  };
}

const FORMS: Readonly<Record<MailLinkKind, (texts: PageTexts, hasToken: boolean) => string>> = {
  reset: (texts, hasToken) =>
    hasToken
      ? formHtml("reset", texts.reset.submit, [{ ...newPasswordField(texts.fields.newPassword), isFocused: true }])
      : formHtml("reset-request", texts.reset.request, [{ ...emailField(texts), isFocused: true }]),
  verify: (texts, hasToken) =>
    hasToken
      ? formHtml("verify", texts.verify.submit, [passwordField(texts)])
      : formHtml("verify-request", texts.verify.request, [{ ...emailField(texts), isFocused: true }]),
  changeEmail: ({ changeEmail }) => formHtml("email-confirm", changeEmail.submit),
  signInLink: ({ signInLink }) => formHtml("sign-in-link", signInLink.submit),
};
