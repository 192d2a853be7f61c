import { memoryStores } from "portico";
import { liveClient, logCatcher, manualClock } from "portico/testing";
import { expect, it, onTestFinished, vi } from "vitest";
import { MemoryKeyValue } from "../../../src/stores/memory-key-value.ts";
import { type AccountHarness, accountHarness, ann, owned, password, tokenOf } from "./account-harness.ts";
import { accountsIn, EVERYWHERE } from "./account-places.ts";

const later = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 5 });
const newPassword = "a new password";

async function asked(harness: AccountHarness, email: string = ann.email, from = "203.0.113.1"): Promise<string> {
  const before = harness.mails.length;
  await harness.post("/password/reset", { email }, from);
  await later(() => expect(harness.mails.length).toBe(before + 1));
  return tokenOf(harness.mails, "reset");
}
const confirm = async ({ post }: AccountHarness, token: string, from = "203.0.113.2"): Promise<number> =>
  (await post("/password/reset/confirm", { token, password: newPassword }, from)).status;

accountsIn(EVERYWHERE, (accounts) => {
  it("[auth:AU-061] [auth:AU-148] sends a link to the stored address, under the configured URL only", async () => {
    const harness = accounts();
    await harness.post("/register", ann);

    await harness.post("/password/reset", { email: "ANN@example.org" }, "203.0.113.9", {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
    });

    await later(() => expect(harness.mails).toHaveLength(1));
    expect(harness.mails[0]).toEqual({
      to: ann.email,
      kind: "reset",
      url: expect.stringMatching(/^https:\/\/shop\.example\/reset-password\?token=[\w-]{43}$/),
    });
  });

  it("[auth:AU-142] returns the same response for an address without an account, and sends nothing", async () => {
    const harness = accounts();
    await harness.post("/register", ann);

    const known = await harness.post("/password/reset", { email: ann.email });
    const unknown = await harness.post("/password/reset", { email: "nobody@example.org" });

    expect([unknown.status, unknown.json()]).toEqual([known.status, known.json()]);
    await later(() => expect(harness.mails).toHaveLength(1));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(harness.mails).toHaveLength(1);
  });

  it("[auth:AU-142] looks up the account after the response, so that the timing reveals nothing", async () => {
    let looks = 0;
    const get = async (): Promise<null> => {
      looks++;
      return null;
    };
    const { post } = accounts({ objects: { get } });

    const answer = await post("/password/reset", { email: ann.email });

    expect([answer.status, looks]).toEqual([202, 0]);
    await later(() => expect(looks).toBe(1));
  });

  it("[auth:AU-143] accepts only the newest token, only once, and rejects all others with the same response", async () => {
    const harness = accounts();
    await harness.post("/register", ann);
    const older = await asked(harness);
    const newest = await asked(harness);

    const answers = [
      await harness.post("/password/reset/confirm", { token: older, password: newPassword }),
      await harness.post("/password/reset/confirm", { token: "x".repeat(43), password: newPassword }),
    ];
    expect(await confirm(harness, newest)).toBe(204);
    answers.push(await harness.post("/password/reset/confirm", { token: newest, password: newPassword }));

    expect(answers[0]?.json()).toMatchObject({ status: 400, code: "link_invalid" });
    for (const answer of answers) expect(answer.json()).toEqual(answers[0]?.json());
  });

  it("[auth:AU-144] lets one of two concurrent uses win", async () => {
    const harness = accounts();
    await harness.post("/register", ann);
    const token = await asked(harness);

    const statuses = await Promise.all([confirm(harness, token), confirm(harness, token), confirm(harness, token)]);

    expect(statuses.toSorted((a, b) => a - b)).toEqual([204, 400, 400]);
  });

  it("[auth:AU-145] limits guesses per address", async () => {
    const harness = accounts();

    const statuses: number[] = [];
    for (let n = 0; n < 11; n++) statuses.push(await confirm(harness, `guess${n}`.padEnd(43, "x"), "203.0.113.77"));

    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 400), 429]);
  });

  it("[auth:AU-081] [auth:AU-149] revokes sessions and tokens on a reset, does not sign in, and notifies the owner", async () => {
    const harness = accounts(owned);
    const { post, client, session, mails } = harness;
    await post("/register", ann);
    const headers = await session();
    const pair = (await post("/token", { identifier: "ann", password })).json() as Record<string, string>;
    const { key } = (await post("/keys", {}, undefined, headers)).json() as { key: string };
    const token = await asked(harness);

    const answer = await post("/password/reset/confirm", { token, password: newPassword });

    expect([answer.status, answer.cookies]).toEqual([204, []]);
    expect((await client.get("/account/me", { headers })).status).toBe(401);
    expect(
      (await client.get("/account/me", { headers: { authorization: `Bearer ${pair["access_token"]}` } })).status,
    ).toBe(401);
    expect((await post("/refresh", { refresh_token: pair["refresh_token"] })).status).toBe(401);
    expect((await client.get("/account/me", { headers: { "x-api-key": key } })).status).toBe(401);
    expect((await post("/login", { identifier: "ann", password })).status).toBe(401);
    expect((await post("/login", { identifier: "ann", password: newPassword })).status).toBe(200);
    await later(() => expect(mails.at(-1)).toEqual({ to: ann.email, kind: "password_changed", url: null }));
  });

  it("[auth:AU-119] gives an account registered with another person's address to that person after a reset", async () => {
    const harness = accounts();
    await harness.post("/register", { ...ann, password: "the password of a thief" });
    const thief = await harness.session(ann.email, "the password of a thief");
    const key = await harness.post("/keys", {}, undefined, thief);
    expect(key.json()).toMatchObject({ status: 403, code: "email_not_verified" });
    const token = await asked(harness);

    await confirm(harness, token);

    expect((await harness.client.get("/account/me", { headers: thief })).status).toBe(401);
    const login = { identifier: ann.email, password: "the password of a thief" };
    expect((await harness.post("/login", login)).status).toBe(401);
    expect(await harness.users.objects.get({ email: ann.email })).toMatchObject({ isVerified: true });
  });

  it("[auth:AU-147] tells browsers not to send the URL of the page as a referrer", async () => {
    const harness = accounts();

    const answer = await harness.post("/password/reset/confirm", { token: "x", password: newPassword });

    expect(answer.headers["referrer-policy"]).toBe("no-referrer");
  });
});

it("[auth:AU-143] rejects a token older than half an hour, and one of another kind", async () => {
  const clock = manualClock();
  const stores = { ...memoryStores(), durable: new MemoryKeyValue({ clock }) };
  const harness = accountHarness({ stores, app: { clock } });
  await harness.post("/register", ann);
  const old = await asked(harness);

  clock.advance(30 * 60_000);
  const late = await harness.post("/password/reset/confirm", { token: old, password: newPassword });
  const fresh = await asked(harness);
  clock.advance(30 * 60_000 - 1);

  expect(late.json()).toMatchObject({ status: 400, code: "link_invalid" });
  expect((await harness.post("/verify", { token: fresh })).json()).toEqual(late.json());
  const headers = await harness.session();
  expect((await harness.post("/email/confirm", { token: fresh }, undefined, headers)).json()).toEqual(late.json());
  expect(await confirm(harness, fresh)).toBe(204);
});

it("[auth:AU-061] links to the listening address without a publicUrl outside production, whatever Host a request sends", async () => {
  const { app, mails, post } = accountHarness({ app: { publicUrl: undefined as never } });
  const live = await liveClient(app);
  onTestFinished(() => live.close());
  await post("/register", ann);

  for (const host of ["evil.example", `localhost:${live.port}`])
    await live.post("/account/password/reset", {
      headers: { host, "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" },
      body: { email: ann.email },
    });

  await later(() => expect(mails).toHaveLength(2));
  for (const { url } of mails)
    expect(url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${live.port}/reset-password\\?token=`));
});

it("[auth:AU-061] sends no link in production without a publicUrl", async () => {
  const log = logCatcher();
  const { app, mails, post } = accountHarness({ app: { publicUrl: undefined as never, logger: log } });
  const live = await liveClient(app);
  onTestFinished(() => live.close());
  await post("/register", ann);
  vi.stubEnv("NODE_ENV", "production");
  onTestFinished(() => void vi.unstubAllEnvs());

  await live.post("/account/password/reset", { body: { email: ann.email } });

  await later(() => expect(log.text).toContain("require the app's publicUrl option in production"));
  expect(mails).toEqual([]);
});

it("links to pages of another site as they are", async () => {
  const { post, mails, users, app } = accountHarness({
    account: { resetPage: "https://app.example/reset", verifyPage: "http://localhost:3000/verify" },
  });
  await users.objects.createUser(ann);
  await post("/password/reset", { email: ann.email });
  await post("/verify/request", { email: ann.email });
  await app.close();

  expect(mails.map(({ url }) => String(url).split("=")[0] ?? "").toSorted()).toEqual([
    "http://localhost:3000/verify?token",
    "https://app.example/reset?token",
  ]);
});
