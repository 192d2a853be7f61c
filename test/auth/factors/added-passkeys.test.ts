import { describe, expect, it } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { passkeyHarness } from "./passkey-harness.ts";
import { type Deviation, SoftwareAuthenticator } from "./software-authenticator.ts";

const INVALID = { code: "invalid_passkey" };
const eve = { email: "eve@example.org", username: "eve", password: "another horse battery staple" };

describe("new passkeys", () => {
  it("are created with options for this user and service, which exclude those that exist", async () => {
    const { byPassword, registrationOptions, add, signIn } = await passkeyHarness();
    const headers = await byPassword();
    const first = new SoftwareAuthenticator();
    const options = await registrationOptions(headers);

    expect(options).toMatchObject({
      rp: { name: "The bookshop", id: "shop.example" },
      user: { name: "ann@example.org", displayName: "ann", id: expect.stringMatching(/^[\w-]{43}$/) },
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      timeout: 300_000,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
    await add(headers, first);
    const strong = cookieHeader(await signIn(first));
    const later = await registrationOptions(strong);
    expect(later["excludeCredentials"]).toEqual([
      { id: first.id, type: "public-key", transports: ["internal", "hybrid"] },
    ]);
    expect(later["user"]).toEqual(options["user"]);
    expect(later["challenge"]).not.toBe(options["challenge"]);
  });

  it("come with recovery codes only as the first second factor, and are reported to the owner", async () => {
    const { byPassword, add, signIn, list, clock, events, mails, app } = await passkeyHarness();
    const [phone, key] = [new SoftwareAuthenticator({ isSyncable: true }), new SoftwareAuthenticator()];
    const headers = await byPassword();
    const added = await add(headers, phone, { name: "Phone", deviation: { isBackedUp: true } });
    const now = new Date(clock.now()).toISOString();

    expect(added.status).toBe(201);
    const { recovery_codes, ...made } = added.json() as { recovery_codes: readonly string[] };
    expect(made).toEqual({
      id: phone.id,
      name: "Phone",
      created_at: now,
      last_used_at: null,
      syncable: true,
      backed_up: true,
    });
    expect(recovery_codes).toHaveLength(10);
    const strong = cookieHeader(await signIn(phone, { isBackedUp: true }));
    const second = await add(strong, key, { name: "" });
    expect(second.json()).toEqual({
      id: key.id,
      name: "Passkey",
      created_at: now,
      last_used_at: null,
      syncable: false,
      backed_up: false,
    });
    expect((await list(strong)).map(({ id, last_used_at }) => [id, last_used_at])).toEqual([
      [phone.id, now],
      [key.id, null],
    ]);
    const kinds = events.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "passkey_added")).toHaveLength(2);
    expect(kinds.filter((kind) => kind === "recovery_codes_created")).toHaveLength(1);
    await app.close();
    expect(mails.filter(({ kind }) => kind === "passkey_added")).toHaveLength(2);
  });

  it("may be stored without transports, which an old browser does not name", async () => {
    const { byPassword, registrationOptions, post, signIn } = await passkeyHarness();
    const [headers, passkey] = [await byPassword(), new SoftwareAuthenticator()];
    const { response, ...others } = passkey.create(await registrationOptions(headers)) as { response: object };
    const credential = { ...others, response: { ...response, transports: undefined } };

    expect((await post("/passkeys", { credential }, undefined, headers)).status).toBe(201);
    const strong = cookieHeader(await signIn(passkey));
    expect((await registrationOptions(strong))["excludeCredentials"]).toEqual([{ id: passkey.id, type: "public-key" }]);
  });

  it("keep the first 100 characters of a name", async () => {
    const { byPassword, add } = await passkeyHarness();
    const answer = await add(await byPassword(), new SoftwareAuthenticator(), { name: "n".repeat(150) });

    expect(answer.json()).toMatchObject({ name: "n".repeat(100) });
  });

  it.each<[string, Deviation]>([
    ["another page", { origin: "https://evil.example" }],
    ["another domain", { rpId: "evil.example" }],
    ["another challenge", { challenge: "A".repeat(43) }],
    ["an authenticator that did not verify the user", { isUserVerified: false }],
  ])("are not accepted from %s", async (_, deviation) => {
    const { byPassword, add, list, events } = await passkeyHarness();
    const headers = await byPassword();
    const answer = await add(headers, new SoftwareAuthenticator(), { deviation });

    expect([answer.status, answer.json()]).toMatchObject([401, INVALID]);
    expect(await list(headers)).toEqual([]);
    expect(events.map(({ kind }) => kind)).not.toContain("passkey_added");
  });

  it("are accepted for five minutes, and only by the session that began to add them", async () => {
    const { byPassword, registrationOptions, post, clock } = await passkeyHarness();
    const [one, other] = [await byPassword(), await byPassword()];
    const send = async (options: unknown, headers = one): Promise<number> =>
      (await post("/passkeys", { credential: new SoftwareAuthenticator().create(options) }, undefined, headers)).status;

    expect(await send(await registrationOptions(one), other)).toBe(401);
    const early = await registrationOptions(one);
    clock.advance(1);
    const late = await registrationOptions(one);
    clock.advance(299_999);
    expect(await send(early)).toBe(401);
    expect(await send(late)).toBe(201);
  });

  it("belong to one user, and are free again once they are removed", async () => {
    const { byPassword, add, signIn, post, client, session } = await passkeyHarness();
    const [shared, own] = [new SoftwareAuthenticator(), new SoftwareAuthenticator()];
    await post("/register", eve);
    await add(await byPassword(), own);
    const ann = cookieHeader(await signIn(own));
    expect((await add(ann, shared)).status).toBe(201);
    expect((await add(ann, shared)).json()).toMatchObject(INVALID);
    const eves = await session(eve.email, eve.password);
    expect((await add(eves, shared)).json()).toMatchObject(INVALID);

    expect((await client.delete(`/account/passkeys/${shared.id}`, { headers: eves })).status).toBe(403);
    expect((await client.delete(`/account/passkeys/${shared.id}`, { headers: ann })).status).toBe(204);
    expect((await add(eves, shared)).status).toBe(201);
    expect((await signIn(shared)).json()).toMatchObject({ email: eve.email });
  });

  it("are at most 20 for each user, and a refused one can be added later", async () => {
    const { byPassword, add, signIn, list, client } = await passkeyHarness();
    const [first, last] = [new SoftwareAuthenticator(), new SoftwareAuthenticator()];
    await add(await byPassword(), first);
    const strong = cookieHeader(await signIn(first));
    for (let count = 1; count < 20; count++) expect((await add(strong, new SoftwareAuthenticator())).status).toBe(201);

    expect((await add(strong, last)).json()).toMatchObject(INVALID);
    expect(await list(strong)).toHaveLength(20);
    await client.delete(`/account/passkeys/${first.id}`, { headers: strong });
    expect((await add(strong, last)).status).toBe(201);
  });
});
