import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { memoryStores } from "portico";
import { manualClock, type TestResponse } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { MemoryKeyValue } from "../../../src/stores/memory-key-value.ts";
import { cookieHeader } from "../../sign-in.ts";
import { type AccountHarness, accountHarness, ann, type HarnessOptions, owned, tokenOf } from "./account-harness.ts";

type Headers = Readonly<Record<string, string>>;

interface World extends AccountHarness {
  /** Asks for an email in a new browser, and returns the browser's cookies. */
  readonly ask: (email?: string, body?: object) => Promise<Headers>;
  readonly confirm: (browser: Headers, body: object, from?: string) => Promise<TestResponse>;
  readonly link: () => { readonly token: string };
  readonly code: () => { readonly code: string };
}

async function world(options: HarnessOptions = {}): Promise<World> {
  const harness = accountHarness({ ...options, account: { signInMails: true, ...options.account } });
  onTestFinished(() => harness.app.close());
  const { post, mails, users } = harness;
  await users.objects.createUser(ann);
  const sent = (): number => mails.filter(({ kind }) => kind === "sign_in").length;
  return {
    ...harness,
    async ask(email = ann.email, body = {}) {
      const expected = sent() + (email === ann.email ? 1 : 0);
      const answer = await post("/sign-in-mail", { email, ...body });
      expect(answer.status).toBe(202);
      await expect.poll(sent).toBe(expected);
      return cookieHeader(answer);
    },
    confirm: (browser, body, from) => post("/sign-in-mail/confirm", body, from, browser),
    link: () => ({ token: tokenOf(mails, "sign_in") }),
    code: () => ({ code: mails.findLast(({ kind }) => kind === "sign_in")?.code ?? "" }),
  };
}

describe("an email to sign in with", () => {
  it.each(["link", "code"] as const)("[auth:AU-267] signs in once by its %s, in the browser that asked", async (by) => {
    const { ask, confirm, client, users, ...rest } = await world();
    const browser = await ask();
    const secret = rest[by]();

    const stranger = await confirm({}, secret);
    const other = await confirm(await ask("unknown@example.org"), secret);
    const first = await confirm(browser, secret);
    const again = await confirm(browser, secret);

    expect([stranger, other, first, again].map(({ status }) => status)).toEqual([400, 400, 200, 400]);
    expect((await client.get("/account/me", { headers: cookieHeader(first) })).json()).toMatchObject({
      email: ann.email,
    });
    expect(await users.objects.get({ email: ann.email })).toMatchObject({ isVerified: true });
  });

  it("uses up the link with the code", async () => {
    const { ask, confirm, link, code } = await world();
    const browser = await ask();

    expect((await confirm(browser, code())).status).toBe(200);
    expect((await confirm(browser, link())).status).toBe(400);
  });

  it("[auth:AU-268] is used once if two requests come at the same time", async () => {
    const { ask, confirm, link } = await world();
    const browser = await ask();

    const answers = await Promise.all([confirm(browser, link()), confirm(browser, link())]);

    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
  });

  it("[auth:AU-269] expires after ten minutes", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 1));
    const stores = { ...memoryStores(), durable: new MemoryKeyValue({ clock }) };
    const { ask, confirm, link } = await world({ app: { clock }, stores });

    const early = await ask();
    clock.advance(599_000);
    expect((await confirm(early, link())).status).toBe(200);
    const late = await ask();
    clock.advance(601_000);
    expect((await confirm(late, link())).status).toBe(400);
  });

  it("[auth:AU-270] allows five attempts per browser, also from several addresses", async () => {
    const { ask, confirm, code } = await world();
    const browser = await ask();
    const wrong = { code: code().code === "00000000" ? "00000001" : "00000000" };

    for (let n = 0; n < 5; n++) expect((await confirm(browser, wrong, `203.0.113.${n}`)).status).toBe(400);

    expect((await confirm(browser, code(), "203.0.113.9")).status).toBe(429);
  });

  it("[auth:AU-271] is invalid after a new password, and for a user who was disabled", async () => {
    const { ask, confirm, link, users } = await world();
    const user = await users.objects.get({ email: ann.email });
    if (user === null) throw new Error("there is no ann");

    const before = await ask();
    await users.objects.setPassword(user, "another long password");
    const changed = await confirm(before, link());
    const later = await ask();
    await users.objects.disable(user);
    const disabled = await confirm(later, link());

    expect([changed.status, disabled.status]).toEqual([400, 400]);
  });

  it("[auth:AU-272] does not replace a second factor", async () => {
    const { ask, confirm, link, post, session } = await world(owned);
    const headers = await session();
    const { secret } = (await post("/factors/totp", {}, undefined, headers)).json() as { secret: string };
    await post("/factors/totp/confirm", { code: codeAt(secret, Date.now()) }, undefined, headers);

    const answer = await confirm(await ask(), link());

    expect([answer.status, answer.json()]).toMatchObject([
      403,
      { code: "second_factor_required", methods: ["totp", "recovery"] },
    ]);
  });

  it("[auth:AU-273] tells nothing about an address without an account", async () => {
    const { post } = await world();

    const [known, unknown] = [
      await post("/sign-in-mail", { email: ann.email }),
      await post("/sign-in-mail", { email: "unknown@example.org" }),
    ];

    expect([known.status, known.json(), Object.keys(known.headers)]).toEqual([
      unknown.status,
      unknown.json(),
      Object.keys(unknown.headers),
    ]);
  });

  it("is remembered on request, and is not stored readably", async () => {
    const stored: string[] = [];
    const { ask, confirm, link, code, app } = await world();
    const set = app.stores.durable.set.bind(app.stores.durable);
    app.stores.durable.set = async (...args) => {
      stored.push(args.join(" "));
      await set(...args);
    };
    const browser = await ask(ann.email, { remember: true });
    const secrets = [link().token, code().code, browser["cookie"]?.split("=")[1] ?? ""];

    const answer = await confirm(browser, link());

    expect(answer.cookies.find((cookie) => cookie.startsWith("__Host-portico_session="))).toContain("Max-Age=");
    expect(stored.join("\n")).toContain("sign-in-mail:");
    for (const secret of secrets) expect(stored.join("\n")).not.toContain(secret);
  });
});

it("the code has eight digits, even if its number is small", async () => {
  const { randomInt } = crypto;
  onTestFinished(() => {
    crypto.randomInt = randomInt;
    syncBuiltinESMExports();
  });
  crypto.randomInt = () => 7;
  syncBuiltinESMExports();
  const { ask, code, confirm } = await world();
  const browser = await ask();

  expect(code()).toEqual({ code: "00000007" });
  expect((await confirm(browser, { code: "7" })).status).toBe(400);
  expect((await confirm(browser, code())).status).toBe(200);
});

it("there are no such routes unless they are turned on", async () => {
  const { post, app } = accountHarness();
  onTestFinished(() => app.close());

  expect((await post("/sign-in-mail", { email: ann.email })).status).toBe(404);
});

describe("three strangers who ask for emails to sign in", () => {
  /** The owner's browser, after strangers have used up the emails of the hour. */
  async function crowded() {
    const here = await world();
    const strangers: Headers[] = [];
    for (let n = 0; n < 3; n++) strangers.push(await here.ask());
    const answer = await here.post("/sign-in-mail", { email: ann.email }, "203.0.113.77");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(here.mails.filter(({ kind }) => kind === "sign_in")).toHaveLength(3);
    return { ...here, strangers, owner: cookieHeader(answer) };
  }

  it.each(["link", "code"] as const)(
    "do not keep the owner from signing in with the %s of the newest email",
    async (by) => {
      const { owner, strangers, confirm, ...rest } = await crowded();
      const secret = rest[by]();

      expect((await confirm(owner, secret)).status).toBe(200);
      expect((await confirm(owner, secret)).status).toBe(400);
      // It works once, also in the browser that asked for it.
      expect((await confirm(strangers[2] ?? {}, secret)).status).toBe(400);
    },
  );

  it("cannot use up the guesses of the owner, who has the link", async () => {
    const { confirm, post, owner, code, link } = await crowded();
    const wrong = { code: code().code === "00000000" ? "00000001" : "00000000" };
    for (let n = 0; n < 50; n++) {
      const browser = cookieHeader(await post("/sign-in-mail", { email: ann.email }, `198.51.100.${n}`));
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect((await confirm(browser, wrong, `198.51.100.${n}`)).status).toBe(400);
    }

    expect((await confirm(owner, code())).status).toBe(400);
    expect((await confirm(owner, link())).status).toBe(200);
  });
});
