import type { PorticoApp } from "portico";
import type { MailContent, Mailer } from "portico/auth";
import { type Database, migrate, type PorticoTables } from "portico/sql";
import { type LiveClient, liveClient } from "portico/testing";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { pageProgram } from "../../docs/page-program.ts";
import { newPlace } from "../../sql/accounts/databases.ts";
import { smtpServer } from "./smtp-server.ts";

const { faults, load } = await pageProgram("docs/recipes/mail.md");
const place = await newPlace("SQLite");
const smtp = await smtpServer();
vi.stubEnv("DATABASE_URL", place.url);
vi.stubEnv("SECRET", "a secret of 32 bytes for this test");
vi.stubEnv("SMTP_URL", smtp.url);
vi.stubEnv("MAIL_FROM", "Bookshop <no-reply@shop.example>");
const page = await load<{ readonly app: PorticoApp; readonly database: Database<PorticoTables> }>("app.ts");
const { mailer } = await load<{ readonly mailer: Mailer }>("mailer.ts");
const content: MailContent = {
  subject: "Your password was changed",
  text: "It was changed.",
  html: "<p>It was changed.",
};
let client: LiveClient;

beforeAll(async () => {
  const { app, database } = page;
  await migrate(database, "up");
  client = await liveClient(app);
});
afterAll(async () => {
  await smtp.close();
  await place.remove();
  vi.unstubAllEnvs();
});

/** The text of an email, decoded. */
function textOf(email = ""): string {
  return email
    .replaceAll("=\r\n", "")
    .replaceAll(/=([\dA-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

it("compiles", () => {
  expect(faults).toEqual([]);
});

it("sends the link that verifies the address, and the token in it works once", async () => {
  const account = { email: "ann@example.org", username: "ann", password: "correct horse battery" };
  await client.post("/account/register", { body: account });
  await smtp.received(1);
  const email = textOf(smtp.emails[0]);
  const token = /^https:\/\/shop\.example\/verify-email\?token=(?<token>\S+)\r?$/m.exec(email)?.groups?.["token"];

  const verify = async () =>
    (await client.post("/account/verify", { body: { token, password: account.password } })).status;
  const signIn = async () =>
    (await client.post("/account/login", { body: { identifier: "ann", password: account.password } })).status;

  expect(email).toMatch(/^From: Bookshop <no-reply@shop\.example>\r$/m);
  expect(email).toMatch(/^To: ann@example\.org\r$/m);
  expect(email).toMatch(/^Subject: Bookshop: Confirm your email address\r$/m);
  expect([await verify(), await verify(), await signIn()]).toEqual([204, 400, 200]);
});

it("sends one email to the address, whatever the address contains", async () => {
  const before = smtp.emails.length;

  await mailer({ to: '"x, eve@evil.example"@example.org', kind: "password_changed", url: null }, content);

  expect(smtp.emails).toHaveLength(before + 1);
  expect(textOf(smtp.emails.at(-1))).not.toMatch(/link works once/);
});

it("waits for an email that is being sent when the application closes", async () => {
  const before = smtp.emails.length;
  const confirm = smtp.hold();
  const order: string[] = [];

  const sent = mailer({ to: "ann@example.org", kind: "reset", url: "https://shop.example/x" }, content).then(() =>
    order.push("sent"),
  );
  await smtp.received(before + 1);
  const closed = client.close().then(() => order.push("closed"));
  confirm();
  await Promise.all([sent, closed]);

  expect(order).toEqual(["sent", "closed"]);
});
