import { PorticoApp, Router } from "portico";
import { type AuthenticationOptions, authentication, oidc } from "portico/auth";
import { type TestClient, type TestResponse, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { secret } from "../accounts/account-harness.ts";
import { memoryUsers } from "../accounts/memory-users.ts";

const preset = (options: Partial<AuthenticationOptions>) =>
  authentication({ userModel: memoryUsers(), secret, audience: "bookshop", mailer: async () => {}, ...options });

function clientOf(options: Partial<AuthenticationOptions>, prefix = ""): TestClient {
  const app = new PorticoApp({ logger: false });
  if (prefix === "") app.use(preset(options));
  else app.mount(prefix, new Router().use(preset(options)));
  onTestFinished(() => app.close());
  return testClient(app);
}

const acme = oidc({ name: "acme", issuer: "https://login.acme.com", clientId: "shop", clientSecret: "secret" });
const all = { pages: true, providers: [acme], passkeys: { rpName: "Shop" }, signInMails: true } as const;
const PAGES = [
  "/sign-in",
  "/register",
  "/account",
  "/reset-password",
  "/verify-email",
  "/change-email",
  "/sign-in-link",
  "/step-up",
];

/** The ids of the forms of a page. */
const formsOf = (response: TestResponse): string[] =>
  [...response.text().matchAll(/<form id="([\w-]+)"/g)].map(([, id]) => id ?? "");
/** The URLs of a page, as a browser resolves them. */
const urlsOf = (response: TestResponse, at: string): string[] =>
  [...response.text().matchAll(/(?:href|src|data-[\w-]+)="(\.[^"]*)"/g)].map(
    ([, url]) => new URL(url ?? "", `http://x${at}`).pathname,
  );

describe("the account pages", () => {
  it("do not exist unless they are turned on", async () => {
    const client = clientOf({});

    for (const page of PAGES) expect((await client.get(page)).status).toBe(404);
  });

  it.each(PAGES)(
    "[auth:AU-280] %s allows only its own files, and is neither cached, framed nor sniffed",
    async (page) => {
      const response = await clientOf(all).get(page);
      const { status, headers } = response;

      expect(status).toBe(200);
      expect(headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(headers["content-security-policy"]?.split("; ").toSorted()).toEqual([
        "base-uri 'none'",
        "connect-src 'self'",
        "default-src 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "img-src data:",
        "require-trusted-types-for 'script'",
        "script-src 'self'",
        "style-src 'self'",
      ]);
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
      });
      expect(response.text()).not.toMatch(/<style|<script(?! src=)| on\w+=| style=|https?:/);
    },
  );

  it("load a script and a style that never change under their URL", async () => {
    const client = clientOf(all);
    const body = (await client.get("/sign-in")).text();
    expect((await client.get("/account/pages/0123456789abcdef.js")).status).toBe(404);
    const [script, style] = [/src="\.([^"]+\.js)"/, /href="\.([^"]+\.css)"/].map((url) => url.exec(body)?.[1] ?? "");

    for (const [path, type] of [
      [script, "text/javascript"],
      [style, "text/css"],
    ] as const) {
      const { status, headers } = await client.get(path ?? "");
      expect([status, headers["content-type"]]).toEqual([200, `${type}; charset=utf-8`]);
      expect(headers).toMatchObject({
        "cache-control": "public, max-age=31536000, immutable",
        "x-content-type-options": "nosniff",
      });
    }
  });

  it("show every way to sign in that is configured, and no other", async () => {
    const full = await clientOf(all).get("/sign-in");
    expect(formsOf(full)).toEqual(["login", "passkey-sign-in", "sign-in-mail", "sign-in-code"]);
    expect(full.text()).toContain("Sign in with Acme");

    const plain = await clientOf({ pages: true }).get("/sign-in");
    expect(formsOf(plain)).toEqual(["login"]);
    expect(plain.text()).not.toContain("Sign in with");
    expect(urlsOf(plain, "/sign-in")).toEqual(expect.arrayContaining(["/register", "/reset-password"]));
    expect((await clientOf({ pages: true }).get("/sign-in-link")).status).toBe(404);
  });

  it("leave out the routes that the application leaves out", async () => {
    const except = ["register", "login", "reset", "factors", "providers", "password", "email"] as const;
    const client = clientOf({ ...all, except });

    const signIn = await client.get("/sign-in");
    expect(formsOf(signIn)).toEqual(["sign-in-mail", "sign-in-code"]);
    expect(signIn.text()).not.toMatch(/register|reset|Acme/);
    expect(formsOf(await client.get("/account"))).toEqual(["logout", "send-code", "enter-code", "everywhere"]);
    for (const page of ["/register", "/reset-password", "/change-email"])
      expect((await client.get(page)).status).toBe(404);
  });

  it("leave out a page that is elsewhere, and link to it", async () => {
    const client = clientOf({
      pages: true,
      signInPage: "https://app.example/sign-in",
      resetPage: "/new-password",
      registerPage: "/join",
      accountPage: "https://app.example/me",
    });

    expect((await client.get("/sign-in")).status).toBe(404);
    expect((await client.get("/account")).status).toBe(404);
    expect((await client.get("/join")).text()).toContain('href="https://app.example/sign-in"');
    expect(formsOf(await client.get("/new-password"))).toEqual(["reset-request"]);
  });

  it("ask for the second factor, or the new password, if the link says so", async () => {
    const client = clientOf(all);
    const second = await client.get("/sign-in?error=second_factor_required");

    expect(second.text()).toContain("<title>Second factor</title>");
    expect(formsOf(second)).toEqual(["second-factor", "second-passkey"]);
    expect(formsOf(await client.get("/reset-password?token=x"))).toEqual(["reset"]);
    expect(formsOf(await client.get("/verify-email?token=x"))).toEqual(["verify"]);
    expect(formsOf(await client.get("/verify-email"))).toEqual(["verify-request"]);
  });

  it.each([
    ["", "/account", "/sign-in"],
    ["", "/account", "/sign-in/"],
    ["/shop", "/account", "/sign-in"],
    ["", "/", "/sign-in"],
    ["", "/api/account", "/sign-in/"],
  ] as const)("link correctly below %j with the routes at %s, from %s", async (prefix, accounts, page) => {
    const client = clientOf({ ...all, accounts }, prefix);
    const html = await client.get(prefix + page);
    const mount = `${prefix}${accounts === "/" ? "" : accounts}`;

    expect(html.status).toBe(200);
    const urls = urlsOf(html, prefix + page);
    expect(urls).toEqual(
      expect.arrayContaining([`${mount}/providers/acme`, `${prefix}/register`, `${prefix}/account`]),
    );
    for (const url of urls.filter((path) => /\.(?:js|css)$/.test(path)))
      expect((await client.get(url)).status).toBe(200);
  });

  it("label every control, and name the purpose of each field", async () => {
    const client = clientOf(all);
    const purposes = new Set<string>();
    for (const page of [...PAGES, "/sign-in?error=second_factor_required", "/reset-password?token=x"]) {
      const body = (await client.get(page)).text();
      for (const [input, id] of body.matchAll(/<input id="([\w-]+)"[^>]*>/g)) {
        expect(body).toContain(`<label for="${id}">`);
        purposes.add(/autocomplete="([^"]+)"/.exec(input)?.[1] ?? "");
        const form = id?.slice(0, id.lastIndexOf("-"));
        expect(body).toContain(`<p id="${form}-error" class="error" role="alert"`);
        // A checkbox cannot be wrong.
        expect(input).toMatch(new RegExp(`aria-describedby="${form}-error"|type="checkbox"`));
      }
    }
    expect([...purposes]).toEqual(
      expect.arrayContaining(["username", "current-password", "new-password", "one-time-code", "email"]),
    );
  });

  it.each([{ accounts: false }, { accounts: "/:tenant/account" }] as const)(
    "need the account routes: %o",
    (options) => {
      expect(() => preset({ pages: true, ...options })).toThrow(
        "authentication.pages needs the account routes at a path without parameters",
      );
    },
  );
});
