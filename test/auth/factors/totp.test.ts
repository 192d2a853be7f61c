import { memoryStores } from "portico";
import { liveClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { stepOf } from "../../../src/auth/factors/new-totp.ts";
import { readCode } from "../../../src/auth/factors/read-code.ts";
import { MemoryKeyValue } from "../../../src/stores/memory-key-value.ts";
import { cookieHeader } from "../../sign-in.ts";
import { ann, secret as oldSecret, password, tokenOf } from "../accounts/account-harness.ts";
import { memoryUsers } from "../accounts/memory-users.ts";
import {
  bearer,
  type FactorHarness,
  factorHarness,
  type Headers,
  type Problem,
  type Tokens,
} from "./factor-harness.ts";

const INVALID = { status: 401, code: "invalid_second_factor" };
const EXPIRED = { status: 401, code: "sign_in_expired" };
const kindsOf = ({ events }: FactorHarness): readonly string[] => events.map(({ kind }) => kind);
const statusOf = async ({ client }: FactorHarness, headers: Headers, path = "/account/me"): Promise<number> =>
  (await client.get(path, { headers })).status;

describe("codes of an authenticator app", () => {
  // RFC 6238, appendix B, for SHA-1. The codes there have eight digits, of which six are the last ones.
  it.each([
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_111_111_111, "050471"],
    [1_234_567_890, "005924"],
    [2_000_000_000, "279037"],
    [20_000_000_000, "353130"],
  ])("[RFC6238:B] has the code of the specification at %d seconds", async (seconds, code) => {
    const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

    expect(await stepOf(readCode(code, 6), secret, seconds * 1000)).toBe(Math.floor(seconds / 30));
    expect(codeAt(secret, seconds * 1000)).toBe(code);
  });

  it("[auth:AU-123] [auth:AU-239] accepts one step of drift on either side, and each step once", async () => {
    const harness = await factorHarness();
    const { login, prove, enrol, clock } = harness;
    const app = await enrol(cookieHeader(await login()));
    clock.advance(300_000);
    const attempt = async (steps: number): Promise<unknown> => {
      const { pending } = (await login()).json() as Problem;
      return (await prove({ pending, code: app.code(steps) })).status;
    };

    expect(await attempt(-2)).toBe(401);
    expect(await attempt(2)).toBe(401);
    expect(await attempt(-1)).toBe(200);
    expect(await attempt(-1)).toBe(401);
    expect(await attempt(0)).toBe(200);
    expect(await attempt(1)).toBe(200);
    expect(await attempt(0)).toBe(401);
  });

  it("[auth:AU-240] accepts a code once when several processes receive it at the same moment", async () => {
    const [stores, users] = [memoryStores(), memoryUsers()];
    const [one, other] = [await factorHarness({ stores, users }), await factorHarness({ stores, users })];
    // Each proof has its own session, because a proof ends the session that it raises.
    const app = await one.enrol(cookieHeader(await one.login()));
    const sessions = [await one.weakly(), await one.weakly(), await one.weakly(), await one.weakly()];
    one.clock.advance(60_000);
    other.clock.advance(60_000);

    const proofs = await Promise.all(
      sessions.map((session, index) => (index % 2 === 0 ? one : other).prove({ code: app.code() }, session)),
    );

    expect(proofs.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401, 401, 401]);
  });
});

describe("adding an authenticator app", () => {
  it("[auth:AU-241] returns the secret, its URI and a QR code, and is active only after the first code", async () => {
    const harness = await factorHarness();
    const { post, client, login, clock } = harness;
    const headers = cookieHeader(await login());

    const begun = await post("/factors/totp", {}, undefined, headers);
    const { secret, uri, qr } = begun.json() as Record<"secret" | "uri" | "qr", string>;
    expect(begun.status).toBe(201);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(Object.fromEntries(new URL(uri).searchParams)).toMatchObject({ secret, issuer: "bookshop", digits: "6" });
    expect(qr).toMatch(/^<svg [^]*<\/svg>$/);
    expect((await login()).status).toBe(200);

    const wrong = await post("/factors/totp/confirm", { code: "000000" }, undefined, headers);
    expect(wrong.json()).toMatchObject(INVALID);
    const right = await post("/factors/totp/confirm", { code: codeAt(secret, clock.now()) }, undefined, headers);
    const { recovery_codes } = right.json() as { recovery_codes: readonly string[] };
    expect(new Set(recovery_codes).size).toBe(10);
    expect((await login()).json()).toMatchObject({ status: 403, code: "second_factor_required" });

    const raised = cookieHeader(right);
    expect((await client.get("/account/factors", { headers: raised })).json()).toEqual({
      totp_created_at: "2026-01-01T00:00:00.000Z",
      passkeys: 0,
      recovery_codes: 10,
    });
    expect(await statusOf(harness, headers)).toBe(401);
    expect(kindsOf(harness)).toContain("second_factor_enrolled");
  });

  it("[auth:AU-242] requires a recent sign-in or the password, and expires after ten minutes", async () => {
    const { post, login, clock } = await factorHarness();
    const headers = cookieHeader(await login());
    clock.advance(600_000);

    expect((await post("/factors/totp", {}, undefined, headers)).json()).toMatchObject({ code: "sign_in_again" });
    const begun = await post("/factors/totp", { password }, undefined, headers);
    const { secret } = begun.json() as { secret: string };
    clock.advance(600_000);
    const late = await post("/factors/totp/confirm", { code: codeAt(secret, clock.now()) }, undefined, headers);

    expect(begun.status).toBe(201);
    expect(late.json()).toMatchObject(INVALID);
  });

  it("[auth:AU-243] is refused to a session with one factor, and to one that has it", async () => {
    const { post, login, weakly, enrol } = await factorHarness();
    const app = await enrol(cookieHeader(await login()));

    expect((await post("/factors/totp", {}, undefined, await weakly())).json()).toMatchObject({
      code: "second_factor_required",
    });
    expect((await post("/factors/totp", {}, undefined, app.headers)).json()).toMatchObject({ status: 409 });
  });

  it("[auth:AU-244] stores no secret in the clear, and reads one that an older key encrypted", async () => {
    const written: string[] = [];
    class Watched extends MemoryKeyValue {
      override set(key: string, value: string, ttlMs?: number): Promise<void> {
        written.push(value);
        return super.set(key, value, ttlMs);
      }
      override compareAndSet(key: string, before: string | null, value: string, ttlMs?: number): Promise<boolean> {
        written.push(value);
        return super.compareAndSet(key, before, value, ttlMs);
      }
    }
    const [stores, users] = [{ ...memoryStores(), durable: new Watched() }, memoryUsers()];
    const before = await factorHarness({ stores, users });
    const app = await before.enrol(cookieHeader(await before.login()));
    const newSecret = "another-secret-for-the-account-tests-9876543210";
    const signIn = async (secrets: readonly string[], minutes: number): Promise<number> => {
      const harness = await factorHarness({ stores, users, account: { secret: secrets } });
      harness.clock.advance(minutes * 60_000);
      const { pending } = (await harness.login()).json() as Problem;
      return (await harness.prove({ pending, code: codeAt(app.secret, harness.clock.now()) })).status;
    };

    expect(written.length).toBeGreaterThan(2);
    expect(written.join("\n")).not.toContain(app.secret);
    expect(written.join("\n")).not.toContain(app.recovery[0]?.replaceAll("-", ""));
    expect(await signIn([newSecret, oldSecret], 1)).toBe(200);
    // The use has encrypted it again, so the old key can be dropped.
    expect(await signIn([newSecret], 2)).toBe(200);
    expect(await signIn(["an-unknown-secret-for-the-account-tests-55555"], 3)).toBe(401);
  });
});

describe("signing in with a second factor", () => {
  it("[auth:AU-124] [auth:AU-245] starts no session before the code, and one with two factors after it", async () => {
    const harness = await factorHarness();
    const { login, prove, enrol, clock } = harness;
    const { code } = await enrol(cookieHeader(await login()));
    clock.advance(60_000);

    const first = await login("/login", { remember: true });
    const problem = first.json() as Problem;
    expect(problem).toMatchObject({ status: 403, code: "second_factor_required", methods: ["totp", "recovery"] });
    expect(first.cookies).toEqual([]);

    const wrong = await prove({ pending: problem.pending, code: "12345" });
    expect(wrong.json()).toMatchObject(INVALID);
    const done = await prove({ pending: problem.pending, code: code().replace(/^.../, "$& ") });
    expect(done.json()).toMatchObject({ email: ann.email });
    expect(done.cookies.join()).toContain("Max-Age");
    expect(await statusOf(harness, cookieHeader(done), "/payout")).toBe(200);
    expect((await prove({ pending: problem.pending, code: code(1) })).json()).toMatchObject(EXPIRED);
    expect(kindsOf(harness)).toEqual(expect.arrayContaining(["second_factor_failed", "second_factor_used"]));
  });

  it("[auth:AU-246] gives tokens with two factors to a client that asked for tokens, also after a refresh", async () => {
    const harness = await factorHarness();
    const { login, prove, post, enrol, clock } = harness;
    const { code } = await enrol(cookieHeader(await login()));
    clock.advance(60_000);

    const { pending } = (await login("/token")).json() as Problem;
    const done = await prove({ pending, code: code() });
    const tokens = done.json() as Tokens;
    const refreshed = (await post("/refresh", { refresh_token: tokens.refresh_token })).json() as Tokens;

    expect(done.cookies).toEqual([]);
    expect(await statusOf(harness, bearer(tokens), "/payout")).toBe(200);
    expect(await statusOf(harness, bearer(refreshed), "/payout")).toBe(200);
  });

  it("[auth:AU-247] expires after five minutes, and ends when the password changes", async () => {
    const harness = await factorHarness();
    const { login, prove, post, enrol, clock } = harness;
    const app = await enrol(cookieHeader(await login()));
    clock.advance(60_000);
    const { pending: late } = (await login()).json() as Problem;
    clock.advance(300_000);
    expect((await prove({ pending: late, code: app.code() })).json()).toMatchObject(EXPIRED);

    const { pending: stolen } = (await login()).json() as Problem;
    const change = { current_password: password, new_password: "a much better password" };
    const changed = await post("/password", change, undefined, app.headers);

    expect(changed.status).toBe(204);
    expect((await prove({ pending: stolen, code: app.code() })).json()).toMatchObject(EXPIRED);
    // The caller keeps the level that the session had.
    expect((await post("/factors/recovery-codes", {}, undefined, cookieHeader(changed))).status).toBe(200);
  });

  it("[auth:AU-123] [auth:AU-248] allows five attempts in fifteen minutes, whatever the address, and then refuses the right code", async () => {
    const { login, post, enrol, clock } = await factorHarness();
    const { code } = await enrol(cookieHeader(await login()));
    clock.advance(60_000);
    const { pending } = (await login()).json() as Problem;
    const attempts = ["1", "2", "3", "4", "5"].map((last) =>
      post("/second-factor", { pending, code: "000000" }, `203.0.113.${last}`),
    );

    expect((await Promise.all(attempts)).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect((await post("/second-factor", { pending, code: code() }, "203.0.113.9")).status).toBe(429);
  });

  it("[auth:AU-125] [auth:AU-249] is not bypassed by a password reset", async () => {
    const { login, post, enrol, mails } = await factorHarness();
    await enrol(cookieHeader(await login()));
    await post("/password/reset", { email: ann.email });
    await expect.poll(() => mails.some(({ kind }) => kind === "reset")).toBe(true);
    const token = tokenOf(mails, "reset");

    expect((await post("/password/reset/confirm", { token, password: "a much better password" })).status).toBe(204);
    expect((await login("/login", { password: "a much better password" })).json()).toMatchObject({
      code: "second_factor_required",
    });
  });

  it("is left out with the routes", async () => {
    const { post, login } = await factorHarness({ account: { except: ["factors"] } });

    expect((await login()).status).toBe(200);
    expect((await post("/second-factor", { code: "123456" })).status).toBe(404);
    expect((await post("/factors/totp")).status).toBe(404);
  });
});

describe("recovery codes", () => {
  it("[auth:AU-123] [auth:AU-250] complete a sign-in once each, in any spelling", async () => {
    const harness = await factorHarness();
    const { login, prove, enrol } = harness;
    const { recovery } = await enrol(cookieHeader(await login()));
    const use = async (code: string): Promise<number> => {
      const { pending } = (await login()).json() as Problem;
      return (await prove({ pending, code })).status;
    };

    expect(await use(recovery[3]?.toUpperCase().replaceAll("-", " ") ?? "")).toBe(200);
    expect(await use(recovery[3] ?? "")).toBe(401);
    expect(await use(recovery[0] ?? "")).toBe(200);
    expect(kindsOf(harness)).toContain("recovery_code_used");
  });

  it("[auth:AU-251] are accepted once when they are sent several times at once", async () => {
    const { login, weakly, prove, enrol } = await factorHarness();
    const { recovery } = await enrol(cookieHeader(await login()));
    const sessions = [await weakly(), await weakly(), await weakly()];

    const proofs = await Promise.all(sessions.map((session) => prove({ code: recovery[0] }, session)));

    expect(proofs.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it("[auth:AU-252] are replaced and removed only by a recent sign-in with two factors", async () => {
    const harness = await factorHarness();
    const { client, login, weakly, prove, post, enrol, clock } = harness;
    const { headers, recovery, code } = await enrol(cookieHeader(await login()));
    const weak = await weakly();
    const renew = (by: Headers) => post("/factors/recovery-codes", {}, undefined, by);
    const remove = (by: Headers) => client.delete("/account/factors/totp", { headers: by });

    expect((await renew(weak)).json()).toMatchObject({ code: "second_factor_required" });
    expect((await remove(weak)).json()).toMatchObject({ code: "second_factor_required" });
    const { recovery_codes } = (await renew(headers)).json() as { recovery_codes: readonly string[] };
    expect((await prove({ code: recovery[0] }, headers)).json()).toMatchObject(INVALID);
    clock.advance(600_000);
    expect((await remove(headers)).json()).toMatchObject({ code: "sign_in_again" });

    const again = cookieHeader(await prove({ code: code() }, headers));
    expect((await remove(again)).status).toBe(204);
    expect((await login()).status).toBe(200);
    expect((await prove({ code: recovery_codes[0] }, again)).json()).toMatchObject(INVALID);
    expect((await renew(again)).status).toBe(404);
    expect(kindsOf(harness)).toEqual(expect.arrayContaining(["recovery_codes_created", "second_factor_removed"]));
  });
});

describe("a step-up", () => {
  it("[auth:AU-253] raises a session under a new id, which ends when the old one would have ended", async () => {
    const harness = await factorHarness();
    const { client, login, weakly, prove, enrol, clock } = harness;
    const { code } = await enrol(cookieHeader(await login()));
    const weak = await weakly();
    const endOf = async (headers: Headers): Promise<unknown> => {
      const list = (await client.get("/account/sessions", { headers })).json() as { current: boolean; id: string }[];
      return list.filter(({ current }) => current).length;
    };
    clock.advance(3_600_000);
    expect(await statusOf(harness, weak, "/payout")).toBe(403);

    const strong = cookieHeader(await prove({ code: code() }, weak));

    expect(await statusOf(harness, strong, "/payout")).toBe(200);
    expect(await statusOf(harness, weak)).toBe(401);
    expect(await endOf(strong)).toBe(1);
    for (let hour = 1; hour < 23; hour++) {
      clock.advance(3_600_000);
      expect(await statusOf(harness, strong)).toBe(200);
    }
    clock.advance(3_600_000);
    expect(await statusOf(harness, strong)).toBe(401);
  });

  it("[auth:AU-254] gives new tokens to a caller with a token, and ends the old ones", async () => {
    const harness = await factorHarness();
    const { login, prove, post, enrol, clock } = harness;
    const { headers, code } = await enrol(bearer((await login("/token")).json() as Tokens));
    clock.advance(60_000);
    const old = (await prove({ code: code() }, headers)).json() as Tokens;
    clock.advance(601_000);
    expect(await statusOf(harness, bearer(old), "/payout")).toBe(403);

    const strong = (await prove({ code: code() }, bearer(old))).json() as Tokens;

    expect(await statusOf(harness, bearer(strong), "/payout")).toBe(200);
    expect(await statusOf(harness, bearer(old))).toBe(401);
    expect((await post("/refresh", { refresh_token: old.refresh_token })).status).toBe(401);
    expect((await post("/refresh", { refresh_token: strong.refresh_token })).status).toBe(200);
  });

  it("[auth:AU-255] is refused to anonymous callers and to API keys", async () => {
    const { login, prove, post, enrol } = await factorHarness();
    const { headers, code } = await enrol(cookieHeader(await login()));
    const { key } = (await post("/keys", {}, undefined, headers)).json() as { key: string };

    expect((await prove({ code: code(1) })).status).toBe(401);
    expect((await prove({ code: code(1) }, { "x-api-key": key })).status).toBe(401);
    expect((await prove({ code: code(1) }, headers)).status).toBe(200);
  });

  it("[auth:AU-256] closes the sockets of the old session", async () => {
    const { app, login, prove, enrol, clock } = await factorHarness();
    const { headers, code } = await enrol(cookieHeader(await login()));
    clock.advance(60_000);
    const live = await liveClient(app);
    const socket = await live.socket("/live", { headers });

    await prove({ code: code() }, headers);

    expect((await socket.closed).code).toBe(4403);
  });
});
