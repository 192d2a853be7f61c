import { describe, expect, it, onTestFinished, vi } from "vitest";
import { codeAt } from "../../../../scripts/clients/authenticator-app.ts";
import { LASTING } from "../../../../src/auth/accounts/ownership/lasting.ts";
import { cookieHeader } from "../../../sign-in.ts";
import { factorHarness, type Tokens } from "../../factors/factor-harness.ts";
import { passkeyHarness } from "../../factors/passkey-harness.ts";
import { SoftwareAuthenticator } from "../../factors/software-authenticator.ts";
import { ann, password } from "../account-harness.ts";
import { type Caller, effectOf, operations } from "./every-route.ts";
import { OwnershipWorld, person } from "./ownership-world.ts";

const owner: Caller = { isFresh: true, isOwned: true, isStrong: null };
/** The second step of two: the first one requires a recent sign-in or the password, which these callers have sent there. */
const SECOND_STEPS = ["accountAddPasskey", "accountConfirmTotp", "accountProviderCallback"];
const CALLERS: readonly (readonly [name: string, caller: Caller, allowed: readonly string[]])[] = [
  ["an API key", { ...owner, isKey: true }, []],
  ["a session with one factor of a user who has two", { ...owner, isStrong: false }, ["accountRevokeKey"]],
  [
    "a session that is not recent, without the password",
    { ...owner, isFresh: false },
    ["accountChangePassword", "accountRevokeKey", ...SECOND_STEPS].toSorted(),
  ],
  ["a session of an account that was never verified", { ...owner, isOwned: false }, ["accountChangePassword"]],
];
/** Their sessions begin with a sign-in. */
const SIGN_INS = ["accountLogin", "accountCreateToken", "accountSecondFactor"];

describe("every account route", () => {
  it("has an entry that says whether it makes or changes a lasting credential", async () => {
    const found = (await operations()).map(({ id }) => id);

    expect(found.toSorted()).toEqual(
      Object.keys(LASTING)
        .filter((id) => id !== "accountProviderLogout")
        .toSorted(),
    );
  });

  it.each(CALLERS)(
    "makes and changes no lasting credential for %s, except where it may",
    async (_, caller, allowed) => {
      const changed: string[] = [];
      for (const operation of await operations())
        if ((await effectOf(operation, caller)).isLasting) changed.push(operation.id);

      expect(changed.toSorted()).toEqual(allowed);
    },
  );

  it("can be used by the owner, and continues a session with its ties", async () => {
    const [changed, loose]: [string[], string[]] = [[], []];
    for (const operation of await operations()) {
      const effect = await effectOf(operation, owner);
      if (effect.isLasting) changed.push(operation.id);
      if (effect.hasLooseSession && !SIGN_INS.includes(operation.id)) loose.push(operation.id);
    }

    expect(changed.toSorted()).toEqual([
      "accountAddPasskey",
      "accountChangePassword",
      "accountConfirmTotp",
      "accountCreateKey",
      "accountProviderCallback",
      "accountRevokeKey",
      "accountUnlinkProvider",
    ]);
    expect(loose).toEqual([]);
  });
});

describe("the first second factor", () => {
  it("ends the sessions and tokens that were started without it", async () => {
    const { login, post, enrol, client } = await factorHarness();
    const stranger = cookieHeader(await login());
    const tokens = (await login("/token")).json() as Tokens;
    const { headers } = await enrol(cookieHeader(await login()));
    const me = async (by: Readonly<Record<string, string>>): Promise<number> =>
      (await client.get("/account/me", { headers: by })).status;

    expect([await me(stranger), await me(headers)]).toEqual([401, 200]);
    expect((await post("/refresh", { refresh_token: tokens.refresh_token })).status).toBe(401);
  });

  it("raises the session that added a passkey", async () => {
    const { byPassword, add, client } = await passkeyHarness();
    const [other, session] = [await byPassword(), await byPassword()];
    const added = await add(session, new SoftwareAuthenticator());
    const status = async (path: string, headers: Readonly<Record<string, string>>): Promise<number> =>
      (await client.get(path, { headers })).status;

    expect(await status("/payout", cookieHeader(added))).toBe(200);
    expect([await status("/account/me", other), await status("/account/me", session)]).toEqual([401, 401]);
  });
});

it("a code of an email verifies the address of a signed-in user, whose session and password stay", async () => {
  const { login, post, mails, users, client } = await factorHarness({ isOwned: false });
  const [other, session] = [cookieHeader(await login()), cookieHeader(await login())];
  await post("/verify/request", {}, undefined, session);
  await expect.poll(() => mails.at(-1)?.kind).toBe("verify");
  const code = mails.at(-1)?.code ?? "";

  expect((await post("/verify", { code }, undefined)).status).toBe(401);
  expect((await post("/verify", { code: "00000000" }, undefined, session)).status).toBe(400);
  const verified = await post("/verify", { code }, undefined, session);

  expect(verified.status).toBe(204);
  expect((await client.get("/account/me", { headers: cookieHeader(verified) })).status).toBe(200);
  expect((await client.get("/account/me", { headers: other })).status).toBe(401);
  expect((await post("/login", { identifier: ann.email, password })).status).toBe(200);
  expect(await users.objects.get({ email: ann.email })).toMatchObject({ isVerified: true });
});

describe("an account of an earlier release, which was never verified and has a second factor", () => {
  it("requires the factor for a reset and a link, and keeps it", async () => {
    const { owner, world, secret } = await earlier();
    const reset = async (more: object): Promise<number> => {
      await world.call("/password/reset", { email: "ann@bank.example" });
      const token = world.mailTo(owner, "reset")?.token;
      return (await world.call("/password/reset/confirm", { token, password: "a new one of hers", ...more })).status;
    };
    await world.call("/verify/request", { email: "ann@bank.example" });
    const token = world.mailTo(owner, "verify")?.token;

    expect((await world.call("/verify", { token, password: owner.password })).json()).toMatchObject({
      status: 403,
      code: "second_factor_required",
    });
    expect([await reset({}), await reset({ code: "000000" })]).toEqual([403, 401]);
    world.clock.advance(60_000);
    expect(await reset({ code: codeAt(secret, world.clock.now()) })).toBe(204);
    const login = await world.call("/login", { identifier: "ann@bank.example", password: "a new one of hers" });
    expect(login.json()).toMatchObject({ code: "second_factor_required" });
  });

  it("does not verify the address by an email to sign in with before the factor", async () => {
    const { owner, world } = await earlier();
    const asked = await world.call("/sign-in-mail", { email: "ann@bank.example" });
    const code = world.mailTo(owner, "sign_in")?.code;

    const answer = await world.call("/sign-in-mail/confirm", { code }, cookieHeader(asked));

    expect(answer.json()).toMatchObject({ status: 403, code: "second_factor_required" });
    expect((await world.call("/login", { identifier: "ann@bank.example", password: owner.password })).status).toBe(403);
  });

  async function earlier() {
    const print = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const world = new OwnershipWorld();
    onTestFinished(() => world.close());
    const ann = person("ann", ["ann@bank.example"]);
    await world.call("/register", { email: "ann@bank.example", password: ann.password });
    await world.signIn(ann, "ann@bank.example", ann.password);
    const session = ann.sessions.at(-1);
    const { secret } = (await world.call("/factors/totp", {}, session, true)).json() as { secret: string };
    await world.call("/factors/totp/confirm", { code: codeAt(secret, world.clock.now()) }, session, true);
    print.mockRestore();
    return { world, owner: ann, secret };
  }
});
