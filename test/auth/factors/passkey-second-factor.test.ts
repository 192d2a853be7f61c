import { memoryStores } from "portico";
import { describe, expect, it } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { memoryUsers } from "../accounts/memory-users.ts";
import { type Problem } from "./factor-harness.ts";
import { optionsIn, passkeyHarness } from "./passkey-harness.ts";
import { SoftwareAuthenticator } from "./software-authenticator.ts";

const INVALID = { code: "invalid_passkey" };
const EXPIRED = { code: "sign_in_expired" };
const eve = { email: "eve@example.org", username: "eve", password: "another horse battery staple" };

describe("a passkey as the second factor", () => {
  it("is named in the options, and completes the sign-in that they were made for", async () => {
    const { byPassword, add, login, weakly, post, prove, events, client } = await passkeyHarness();
    const passkey = new SoftwareAuthenticator();
    const session = await byPassword();
    await add(session, passkey);
    const { pending, methods } = (await login()).json() as Problem;
    expect(methods).toEqual(["passkey", "recovery"]);
    const options = optionsIn(await post("/second-factor/options", { pending }));

    expect(options).toMatchObject({
      rpId: "shop.example",
      timeout: 300_000,
      userVerification: "required",
      allowCredentials: [{ id: passkey.id, type: "public-key", transports: ["internal", "hybrid"] }],
    });
    expect((await prove({ credential: passkey.get(options) }, await weakly())).json()).toMatchObject(INVALID);
    const again = optionsIn(await post("/second-factor/options", { pending }));
    const proved = await prove({ pending, credential: passkey.get(again) });
    expect(proved.json()).toMatchObject({ email: "ann@example.org" });
    expect((await client.get("/payout", { headers: cookieHeader(proved) })).status).toBe(200);
    expect(events.map(({ kind }) => kind)).toContain("second_factor_used");
  });

  it("is not accepted for another user, and not for a sign-in that has expired", async () => {
    const { byPassword, add, login, post, prove, session, clock } = await passkeyHarness();
    const [anns, eves] = [new SoftwareAuthenticator(), new SoftwareAuthenticator()];
    await post("/register", eve);
    await add(await byPassword(), anns);
    await add(await session(eve.email, eve.password), eves);
    const { pending } = (await login()).json() as Problem;
    const begin = () => post("/second-factor/options", { pending });

    expect((await prove({ pending, credential: eves.get(optionsIn(await begin())) })).json()).toMatchObject(INVALID);
    const options = optionsIn(await begin());
    clock.advance(300_000);
    expect((await begin()).json()).toMatchObject(EXPIRED);
    expect((await prove({ pending, credential: anns.get(options) })).json()).toMatchObject(EXPIRED);
    expect((await post("/second-factor/options", { pending: "unknown" })).status).toBe(401);
    expect((await post("/second-factor/options")).status).toBe(401);
  });

  it("may be asked for 100 times and tried 20 times in five minutes from one address", async () => {
    const { post } = await passkeyHarness();
    const statuses = async (path: string, count: number): Promise<readonly number[]> => {
      const found: number[] = [];
      for (let index = 0; index < count; index++)
        found.push((await post(path, { pending: "unknown", code: "1" }, "203.0.113.7")).status);
      return found;
    };

    expect((await statuses("/second-factor/options", 101)).indexOf(429)).toBe(100);
    expect((await statuses("/second-factor", 21)).indexOf(429)).toBe(20);
  });

  it("takes the recovery codes with it when it is the last factor", async () => {
    const { byPassword, add, signIn, client, login, events, mails, app } = await passkeyHarness();
    const [one, two] = [new SoftwareAuthenticator(), new SoftwareAuthenticator()];
    await add(await byPassword(), one);
    const headers = cookieHeader(await signIn(one));
    await add(headers, two);
    const remove = (id: string) => client.delete(`/account/passkeys/${id}`, { headers });

    expect((await remove("unknown")).json()).toMatchObject({ code: "not_found", detail: "Passkey not found" });
    expect((await remove(one.id)).status).toBe(204);
    expect(((await login()).json() as Problem).methods).toEqual(["passkey", "recovery"]);
    expect((await signIn(one)).json()).toMatchObject(INVALID);
    expect((await remove(two.id)).status).toBe(204);
    expect((await login()).status).toBe(200);
    expect(events.filter(({ kind }) => kind === "passkey_removed")).toHaveLength(2);
    await app.close();
    expect(mails).toContainEqual({ kind: "passkey_removed", to: "ann@example.org", url: null });
  });

  it("stands beside an authenticator app, which keeps its recovery codes", async () => {
    const { byPassword, add, enrol, client, login, prove } = await passkeyHarness();
    const { headers, recovery } = await enrol(await byPassword());
    const passkey = new SoftwareAuthenticator();
    const added = await add(headers, passkey);

    expect(added.json()).not.toHaveProperty("recovery_codes");
    const { pending, methods } = (await login()).json() as Problem;
    expect(methods).toEqual(["totp", "passkey", "recovery"]);
    expect((await prove({ pending, code: recovery[0] })).status).toBe(200);
    await client.delete(`/account/passkeys/${passkey.id}`, { headers });
    expect(((await login()).json() as Problem).methods).toEqual(["totp", "recovery"]);
  });

  it("is renamed by its owner alone, without a change to the others", async () => {
    const { byPassword, add, signIn, client, list, post, session } = await passkeyHarness();
    const [one, two] = [new SoftwareAuthenticator(), new SoftwareAuthenticator()];
    await post("/register", eve);
    await add(await byPassword(), one, { name: "One" });
    const headers = cookieHeader(await signIn(one));
    await add(headers, two, { name: "Two" });
    const rename = (body: object, as: Readonly<Record<string, string>> = headers) =>
      client.patch(`/account/passkeys/${two.id}`, { headers: as, body });

    expect((await rename({ name: "Desk" }, await session(eve.email, eve.password))).status).toBe(404);
    expect((await rename({ name: 1 })).status).toBe(400);
    expect((await list(headers)).map(({ name }) => name)).toEqual(["One", "Two"]);
    expect((await rename({ name: "d".repeat(101) })).status).toBe(204);
    expect((await list(headers)).map(({ name }) => name)).toEqual(["One", "d".repeat(100)]);
    expect((await rename({ name: "" })).status).toBe(204);
    expect((await list(headers)).map(({ name }) => name)).toEqual(["One", "Passkey"]);
  });

  it("is not requested by an application without passkeys", async () => {
    const [users, stores] = [memoryUsers(), memoryStores()];
    const { byPassword, add } = await passkeyHarness({ users, stores });
    await add(await byPassword(), new SoftwareAuthenticator());
    const without = await passkeyHarness({ users, stores, account: { passkeys: undefined } as object });

    expect((await without.login()).status).toBe(200);
    expect((await without.post("/second-factor/options")).status).toBe(404);
    expect((await without.post("/second-factor", {}, undefined, await without.byPassword())).json()).toMatchObject({
      status: 400,
      detail: "The member code must be a string",
    });
  });
});
