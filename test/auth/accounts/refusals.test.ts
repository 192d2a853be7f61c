import { github } from "portico/auth";
import { logCatcher, type TestResponse } from "portico/testing";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type AccountHarness, accountHarness, ann, type HarnessOptions, password } from "./account-harness.ts";

afterEach(() => void vi.unstubAllEnvs());

function world(options: HarnessOptions = {}): AccountHarness {
  const providers = [github({ clientId: "id", clientSecret: "secret" })];
  const harness = accountHarness({ ...options, account: { providers, signInMails: true, ...options.account } });
  onTestFinished(() => harness.app.close());
  return harness;
}

type Call = (harness: AccountHarness) => Promise<TestResponse>;
const post =
  (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Call =>
  (harness) =>
    harness.post(path, body, undefined, headers);
const register = (changes: object): Call => post("/register", { ...ann, ...changes });

const confirmSignedIn: Call = async (harness) => {
  await harness.post("/register", ann);
  return harness.post("/email/confirm", { token: "x" }, undefined, await harness.session());
};

const LINK = "The link is invalid or has expired";
const EMAIL = "The email must be a valid email address";
const USERNAME = "The username must have 1 to 254 visible characters and no @";
const plain = (field: string): string =>
  `The ${field} contains a compatibility character, such as a full-width letter or a ligature. Use the plain character.`;

describe("a refusal says why:", () => {
  it.each<[number, string, string, Call]>([
    [400, "link_invalid", LINK, post("/verify", { token: "x" })],
    [400, "link_invalid", LINK, confirmSignedIn],
    [400, "link_invalid", LINK, post("/sign-in-mail/confirm", { token: "x" })],
    [400, "link_invalid", LINK, post("/password/reset/confirm", { token: "x", password })],
    [
      400,
      "return_to_invalid",
      "return_to must be a local path that begins with a single slash",
      ({ client }) => client.get("/account/providers/github?return_to=//evil.example"),
    ],
    [
      403,
      "cross_site_refused",
      "A page of another origin sent this request. To allow it, add the origin to the app's origins.",
      post("/login", { identifier: "ann", password }, { origin: "https://evil.example" }),
    ],
    [
      404,
      "not_found",
      "This provider does not support back-channel logout",
      ({ client }) =>
        client.post("/account/providers/github/backchannel-logout", {
          body: "logout_token=x",
          headers: { "content-type": "application/x-www-form-urlencoded" },
        }),
    ],
    [422, "validation_failed", EMAIL, register({ email: "ann" })],
    [422, "validation_failed", EMAIL, register({ email: "ann@example..org" })],
    [422, "validation_failed", EMAIL, register({ email: `${"a".repeat(250)}@a.de` })],
    [422, "name_not_canonical", plain("email"), register({ email: "ﬁn@example.org" })],
    [422, "validation_failed", USERNAME, register({ username: "" })],
    [422, "validation_failed", USERNAME, register({ username: "bob@example.org" })],
    [422, "validation_failed", USERNAME, register({ username: "a".repeat(255) })],
    [422, "name_not_canonical", plain("username"), register({ username: "ﬁn" })],
    [422, "password_too_short", "The password must be at least 8 bytes long.", register({ password: "1234567" })],
    [
      422,
      "password_too_long",
      "The password must be at most 1024 bytes long.",
      register({ password: "x".repeat(1_025) }),
    ],
    [
      422,
      "password_not_text",
      "The password contains an invalid Unicode character.",
      register({ password: "\ud800abcdefgh" }),
    ],
    [
      422,
      "password_not_text",
      "The password has more than 30 combining marks in a row.",
      register({ password: `correct horse${"\u0315".repeat(31)}` }),
    ],
  ])("%i %s: %s (%#)", async (status, code, detail, call) => {
    expect((await call(world())).json()).toMatchObject({ status, code, detail });
  });

  it("403 human_check_failed", async () => {
    const answer = await register({})(world({ account: { isHuman: async () => false } }));

    expect(answer.json()).toMatchObject({
      status: 403,
      code: "human_check_failed",
      detail: "Confirm that you are a person, then try again.",
    });
  });
});

it.each<[string, Call]>([
  ["a registration", register({})],
  ["a reset", post("/password/reset", { email: ann.email })],
  ["a verification", post("/verify/request", { email: ann.email })],
  ["a sign-in by email", post("/sign-in-mail", { email: ann.email })],
])("%s is accepted with a response that reveals nothing", async (_, call) => {
  const answer = await call(world());

  expect([answer.status, answer.json()]).toEqual([
    202,
    { detail: "Request received. If it applies, you'll get an email shortly." },
  ]);
  expect(answer.headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
});

it("a link that has no URL in production is logged", async () => {
  const log = logCatcher();
  const harness = accountHarness({ app: { logger: log, publicUrl: undefined as never } });
  onTestFinished(() => harness.app.close());
  await harness.post("/register", ann);
  vi.stubEnv("NODE_ENV", "production");
  await harness.post("/password/reset", { email: ann.email });

  await expect
    .poll(() => log.lines.filter(({ level }) => level === "error"))
    .toMatchObject([
      {
        msg: "failed to send an email",
        err: { message: "links in emails and identity providers require the app's publicUrl option in production" },
      },
    ]);
  expect(harness.mails).toEqual([]);
});

it("a link is sent in production with a publicUrl, and none to a verified or an unknown address", async () => {
  const log = logCatcher();
  const { app, post: send, mails, users } = accountHarness({ app: { logger: log } });
  const user = await users.objects.createUser(ann);
  vi.stubEnv("NODE_ENV", "production");
  await send("/verify/request", { email: "unknown@example.org" });
  await send("/verify/request", { email: ann.email });
  await expect.poll(() => mails).toHaveLength(1);
  await users.objects.markVerified(user);
  await send("/verify/request", { email: ann.email });
  await app.close();

  expect(mails.map(({ url }) => url?.split("=")[0])).toEqual(["https://shop.example/verify-email?token"]);
  expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
});
