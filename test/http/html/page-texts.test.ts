import { ConfigurationError, englishTexts, type PageTexts, PorticoApp } from "portico";
import { authentication, type Mail, type MailContent } from "portico/auth";
import { testClient } from "portico/testing";
import { expect, expectTypeOf, it, onTestFinished } from "vitest";
import { secret } from "../../auth/accounts/account-harness.ts";
import { memoryUsers } from "../../auth/accounts/memory-users.ts";

const german: PageTexts = {
  ...englishTexts,
  language: "de",
  errors: { ...englishTexts.errors, 404: { title: "Seite nicht gefunden", text: "Diese Seite gibt es nicht." } },
  signIn: { ...englishTexts.signIn, title: "Anmelden <b>", provider: "Anmelden mit {provider}" },
  mails: {
    ...englishTexts.mails,
    reset: { subject: "Neues Passwort", text: "Hier klicken.", action: "Passwort setzen" },
  },
};

function shop(texts: PageTexts, mails: [Mail, MailContent][] = []): PorticoApp {
  const app = new PorticoApp({ title: "Laden", brand: { texts, accent: "#ffdd00" }, logger: false });
  app.use(
    authentication({
      userModel: memoryUsers(),
      secret,
      audience: "shop",
      pages: true,
      mailer: async (mail, content) => void mails.push([mail, content]),
    }),
  );
  onTestFinished(() => app.close());
  return app;
}

it("one table has the texts of account pages, errors, scripts and emails", async () => {
  const mails: [Mail, MailContent][] = [];
  const client = testClient(shop(german, mails));

  const page = (await client.get("/sign-in")).text();
  expect(page).toContain('<html lang="de">');
  expect(page).toContain("<h1>Anmelden &lt;b&gt;</h1>");
  const missing = await client.get("/nothing", { headers: { accept: "text/html" } });
  expect(missing.text()).toContain("Seite nicht gefunden");
  const [script] = /account\/pages\/[\da-f]+\.js/.exec(page) ?? [];
  expect((await client.get(`/${script}`)).text()).toMatch(/^var pageTexts=\{.*"language":"de"/);

  const person = { email: "ann@example.org", username: "ann", password: "correct horse battery staple" };
  await client.post("/account/register", { body: person });
  await client.post("/account/password/reset", { body: { email: person.email } });
  await expect.poll(() => mails.map(([{ kind }]) => kind)).toContain("reset");
  const [mail, content] = mails.find(([{ kind }]) => kind === "reset") as [Mail, MailContent];
  expect(content.subject).toBe("Laden: Neues Passwort");
  expect(content.text.split("\n\n")).toEqual(["Hier klicken.", mail.url, englishTexts.mails.ignore]);
  expect(content.html).toContain(`<a href="${mail.url}"`);
  expect(content.html).toContain("background:#ffdd00;color:#000");
  // A mail program loads nothing for it.
  expect(content.html).not.toMatch(/<(?:img|link|script)\b|url\(/);
});

it("a table without a text, with an unknown one or without a hole is refused at startup", () => {
  const { toSignIn: _, ...lacking } = englishTexts;
  for (const [texts, fault] of [
    [lacking, "PorticoApp.brand.texts toSignIn must be a text"],
    [{ ...englishTexts, greeting: "Hello" }, "PorticoApp.brand.texts has an unknown text greeting"],
    [
      { ...englishTexts, signIn: { ...englishTexts.signIn, provider: "Sign in" } },
      "PorticoApp.brand.texts signIn.provider must contain {provider}",
    ],
    [{ ...englishTexts, errors: "none" }, "PorticoApp.brand.texts errors must be an object"],
  ] as const)
    expect(() => new PorticoApp({ brand: { texts: texts as unknown as PageTexts } })).toThrow(
      new ConfigurationError("PorticoApp.brand.texts", fault.slice("PorticoApp.brand.texts ".length)),
    );
});

it("does not compile without a text, with an unknown one or without a hole", () => {
  const { toSignIn: _, ...lacking } = englishTexts;
  expectTypeOf(lacking).not.toExtend<PageTexts>();
  // @ts-expect-error: an unknown text
  ({ ...englishTexts, greeting: "Hello" }) satisfies PageTexts;
  // @ts-expect-error: without the name of the provider
  ({ ...englishTexts.signIn, provider: "Sign in" }) satisfies PageTexts["signIn"];
  expectTypeOf(german.messages.addedOn).toEqualTypeOf<`${string}{date}${string}`>();
});

it("development shows every email with sample values, and production shows none", async () => {
  const before = process.env["NODE_ENV"];
  onTestFinished(() => void (process.env["NODE_ENV"] = before));
  process.env["NODE_ENV"] = "development";
  const client = testClient(shop(german));
  const list = await client.get("/account/pages/mails");
  expect(list.text()).toContain("<h2>Laden: Neues Passwort</h2>");
  expect(list.text().match(/<section>/g)).toHaveLength(Object.keys(englishTexts.mails).length - 3);
  const html = await client.get("/account/pages/mails?html=reset");
  expect(html.text()).toContain("Passwort setzen");
  expect(html.headers["content-security-policy"]).not.toContain("script-src");

  process.env["NODE_ENV"] = "test";
  expect((await testClient(shop(german)).get("/account/pages/mails")).status).toBe(404);
});
