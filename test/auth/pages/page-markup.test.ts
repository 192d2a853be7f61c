import { PorticoApp } from "portico";
import { type AuthenticationOptions, authentication, github, oidc } from "portico/auth";
import { testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { secret } from "../accounts/account-harness.ts";
import { memoryUsers } from "../accounts/memory-users.ts";

const acme = oidc({ name: "acme", issuer: "https://login.acme.com", clientId: "shop", clientSecret: "secret" });
const hub = github({ clientId: "shop", clientSecret: "secret" });
const all = { providers: [acme], passkeys: { rpName: "Shop" }, signInMails: true } as const;
const PAGES = [
  "/sign-in",
  "/sign-in?error=second_factor_required",
  "/register",
  "/account",
  "/account/",
  "/step-up",
  ...["/reset-password", "/verify-email", "/change-email", "/sign-in-link"].flatMap((page) => [
    page,
    `${page}?token=x`,
  ]),
];

it.each<[string, Partial<AuthenticationOptions>]>([
  ["every-option", all],
  ["no-options", {}],
  ["few-routes", { ...all, except: ["login", "factors", "providers", "reset", "register", "sessions"] }],
  ["fewer-routes", { except: ["me", "password", "email", "keys", "logout", "verify", "sign-in-mails"] }],
  [
    "account-only",
    {
      ...all,
      providers: [hub, acme],
      except: ["login", "reset", "logout", "factors", "email", "sign-in-mails", "register", "password", "sessions"],
    },
  ],
])("the pages of an application contain exactly the forms for its routes: %s", async (name, options) => {
  const app = new PorticoApp({ logger: false });
  const given = { userModel: memoryUsers(), secret, audience: "bookshop", mailer: async () => {} };
  app.use(authentication({ ...given, pages: true, ...options }));
  onTestFinished(() => app.close());
  const client = testClient(app);
  const texts: string[] = [];
  for (const page of PAGES) {
    const response = await client.get(page);
    texts.push(`<!-- ${page}: ${response.status} -->`, response.status === 200 ? response.text() : "");
  }

  // The names of the files change with their content.
  const text = texts.join("\n").replaceAll(/[\da-f]{16}\.(js|css)/g, "file.$1");
  await expect(text).toMatchFileSnapshot(`__snapshots__/${name}.txt`);
});

it("the files of the pages are cached without a limit, and used by no other site", async () => {
  const app = new PorticoApp({ logger: false });
  const given = { userModel: memoryUsers(), secret, audience: "bookshop", mailer: async () => {} };
  app.use(authentication({ ...given, pages: true }));
  onTestFinished(() => app.close());
  const client = testClient(app);
  const paths = (await client.get("/sign-in")).text().match(/account\/pages\/[\da-f]{16}\.(?:js|css)/g) ?? [];
  const responses = await Promise.all(paths.map((path) => client.get(`/${path}`)));

  expect(responses.map(({ headers }) => headers["content-type"])).toEqual([
    "text/css; charset=utf-8",
    "text/javascript; charset=utf-8",
  ]);
  for (const { headers } of responses)
    expect(headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
    });
  expect((await client.get("/account/pages/0123456789abcdef.js")).status).toBe(404);
});

it("the OpenAPI document contains neither the pages nor their files", () => {
  const app = new PorticoApp({ logger: false });
  const given = { userModel: memoryUsers(), secret, audience: "bookshop", mailer: async () => {} };
  app.use(authentication({ ...given, ...all, pages: true }));
  const paths = Object.keys(app.openapi().paths ?? {});

  expect(paths.filter((path) => !path.startsWith("/account/"))).toEqual([]);
  expect(paths.filter((path) => path.startsWith("/account/pages"))).toEqual([]);
});
