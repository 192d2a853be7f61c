import { field, Graph, schema, t } from "portico/graphql";
import { liveClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { cookieHeader } from "../../sign-in.ts";
import { accountHarness, password } from "../accounts/account-harness.ts";
import { type Headers, type ImpersonationHarness, impersonationHarness } from "./impersonation-harness.ts";

const REFUSED = { status: 403, code: "impersonation_refused", detail: "You cannot act as this user." };
const IMPERSONATING = {
  status: 403,
  code: "impersonating",
  detail: "This is not possible while you act as another user. End the impersonation first.",
};
const ENDED = {
  status: 403,
  code: "impersonation_ended",
  detail: "The impersonation has ended. Return to your own session.",
};

/** A session of sam that acts as ann. */
async function acting(harness: ImpersonationHarness): Promise<Headers> {
  const sam = await harness.login("sam");
  expect((await harness.act(sam, "ann")).status).toBe(200);
  return sam;
}
const end = ({ post }: ImpersonationHarness, headers: Headers) => post("/impersonation/end", {}, undefined, headers);

describe("who may act as whom", () => {
  it("[auth:AU-187] refuses an equal or higher administrator, names both in the log, and ends with the administrator's session", async () => {
    const harness = await impersonationHarness();
    const { act, ids, events, me, post } = harness;
    const sam = await harness.login("sam");

    const refused = [await act(sam, "eve"), await act(sam, "ida"), await act(sam, "sam")];
    expect(refused.map((answer) => answer.json())).toEqual(Array(3).fill(expect.objectContaining(REFUSED)));
    expect(new Set(refused.map((answer) => (answer.json() as { detail: string }).detail)).size).toBe(1);
    expect(await me(sam)).toMatchObject({ username: "sam" });

    expect((await act(sam, "ann")).json()).toMatchObject({ username: "ann", impersonator: ids.sam });
    await vi.waitFor(() => expect(events.at(-1)?.kind).toBe("impersonation_started"), 60_000);
    expect(events.filter(({ kind }) => kind.startsWith("impersonation"))).toMatchObject([
      { kind: "impersonation_refused", user: ids.eve, actor: ids.sam, outcome: "failure" },
      { kind: "impersonation_refused", user: ids.ida, actor: ids.sam, outcome: "failure" },
      { kind: "impersonation_refused", user: ids.sam, actor: ids.sam, outcome: "failure" },
      { kind: "impersonation_started", user: ids.ann, actor: ids.sam, outcome: "success" },
    ]);
    expect(await me(sam)).toMatchObject({ username: "ann", impersonator: ids.sam });

    expect((await post("/logout", {}, undefined, sam)).status).toBe(204);
    expect(await me(sam)).toMatchObject({ status: 401 });
    await vi.waitFor(() => expect(events.at(-1)?.kind).toBe("logged_out"), 60_000);
    expect(events.slice(-2)).toMatchObject([
      { kind: "impersonation_ended", user: ids.ann, actor: ids.sam },
      { kind: "logged_out", user: ids.sam, actor: ids.sam },
    ]);
  });

  it("refuses unknown and disabled users like every other", async () => {
    const { login, act, post, objects, ids } = await impersonationHarness();
    const sam = await login("sam");
    const unknown = await post("/impersonation", { user: "unknown" }, undefined, sam);
    await objects.disable({ identity: ids.ann });

    expect((await act(sam, "ann")).json()).toMatchObject(REFUSED);
    expect(unknown.json()).toMatchObject(REFUSED);
  });

  it("[auth:AU-300] requires the permission, a session, a recent sign-in, and two factors of an administrator who has them", async () => {
    const { login, act, post, client, clock, ids } = await impersonationHarness();
    const ann = await login("ann");
    expect((await act(ann, "eve")).json()).toMatchObject({ status: 403, code: "forbidden" });
    expect((await act({}, "ann")).status).toBe(401);
    const tokens = (await post("/token", { identifier: "sam", password })).json() as { access_token: string };
    expect((await act({ authorization: `Bearer ${tokens.access_token}` }, "ann")).status).toBe(401);

    const sam = await login("sam");
    const { secret } = (await post("/factors/totp", {}, undefined, sam)).json() as { secret: string };
    const code = codeAt(secret, clock.now());
    const confirmed = await post("/factors/totp/confirm", { code }, undefined, sam);
    const strong = cookieHeader(confirmed);
    const own = await client.post("/sessions/one-factor");
    const weak = cookieHeader(own);
    expect((await act(weak, "ann")).json()).toMatchObject({ code: "second_factor_required" });
    clock.advance(601_000);
    expect((await act(strong, "ann")).json()).toMatchObject({ status: 403, code: "sign_in_again" });
    const again = await post("/impersonation", { user: ids.ann, password }, undefined, strong);
    expect(again.status).toBe(200);
  });

  it("is off unless the option is set", async () => {
    const harness = accountHarness();
    expect((await harness.post("/impersonation", { user: "1" })).status).toBe(404);
    expect((await harness.post("/impersonation/end")).status).toBe(404);
  });

  it("[auth:AU-301] rejects the sessions that still act as a user when the option is removed", async () => {
    const harness = await impersonationHarness();
    const sam = await acting(harness);
    const { users, stores } = harness;
    const off = accountHarness({ users, stores });

    expect((await off.client.get("/account/me", { headers: sam })).json()).toMatchObject(ENDED);
  });

  it.each([
    [{}],
    [{ permission: "" }],
    [{ permission: "a", maxSeconds: 0 }],
    [{ permission: "a", maxSeconds: 86_401 }],
  ])("refuses the option %j at startup", (impersonation) => {
    expect(() => accountHarness({ account: { impersonation: impersonation as { permission: string } } })).toThrow(
      "authentication.impersonation.",
    );
  });

  it("refuses a page of another origin", async () => {
    const harness = await impersonationHarness();
    const sam = await harness.login("sam");
    const foreign = { ...sam, origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect((await harness.act(foreign, "ann")).json()).toMatchObject({ status: 403, code: "cross_site_refused" });
    await harness.act(sam, "ann");
    expect((await end(harness, foreign)).json()).toMatchObject({ status: 403, code: "cross_site_refused" });
    expect(await harness.me(sam)).toMatchObject({ username: "ann" });
  });
});

describe("a session that acts as a user", () => {
  it("returns to the administrator's own session, which is as old as before", async () => {
    const harness = await impersonationHarness();
    const { clock, client, me, events, ids } = harness;
    const sam = await acting(harness);
    clock.advance(601_000);

    expect((await end(harness, sam)).status).toBe(204);
    expect(await me(sam)).toMatchObject({ username: "sam" });
    expect(await me(sam)).not.toHaveProperty("impersonator");
    expect((await client.get("/fresh", { headers: sam })).json()).toMatchObject({ code: "sign_in_again" });
    expect((await end(harness, sam)).status).toBe(409);
    expect((await end(harness, {})).status).toBe(409);
    await vi.waitFor(() => expect(events.at(-1)?.kind).toBe("impersonation_ended"), 60_000);
    expect(events.at(-1)).toMatchObject({ user: ids.ann, actor: ids.sam });
  });

  it("shows the administrator to routes and resolvers, and in the context's log form", async () => {
    const harness = await impersonationHarness();
    const by = field(t.nullable(t.string))(({ ctx }) => ctx.impersonator);
    new Graph(schema({ query: { by } })).mount(harness.app);
    const { client, ids } = harness;
    const sam = await acting(harness);

    expect((await client.get("/who", { headers: sam })).text()).toContain(`ann by ${ids.sam}`);
    expect((await client.get("/who")).text()).toContain("by null");
    expect((await client.get("/context", { headers: sam })).text()).toContain(ids.sam);
    const asked = await client.post("/graphql", { body: { query: "{ by }" }, headers: sam });
    expect(asked.json()).toMatchObject({ data: { by: ids.sam } });
  });

  it("[auth:AU-302] is neither a recent sign-in nor one with two factors", async () => {
    const harness = await impersonationHarness();
    const { client } = harness;
    const sam = await acting(harness);

    expect((await client.get("/fresh", { headers: sam })).json()).toMatchObject({ code: "sign_in_again" });
    expect((await client.get("/strong", { headers: sam })).json()).toMatchObject({ code: "second_factor_required" });
  });

  it.each([
    ["POST", "/password", { current_password: password, new_password: "another password entirely" }],
    ["POST", "/email", { email: "new@example.org", password }],
    ["POST", "/factors/totp", { password }],
    ["POST", "/factors/totp/confirm", { code: "123456" }],
    ["DELETE", "/factors/totp", undefined],
    ["POST", "/factors/recovery-codes", {}],
    ["POST", "/second-factor", { code: "123456" }],
    ["POST", "/keys", { password }],
    ["DELETE", "/keys/1", undefined],
    ["DELETE", "/sessions/1", undefined],
    ["POST", "/logout/everywhere", {}],
    ["POST", "/login", { identifier: "ann", password }],
    ["POST", "/token", { identifier: "ann", password }],
    ["POST", "/impersonation", { user: "1" }],
  ])("[auth:AU-303] refuses %s /account%s", async (method, path, body) => {
    const harness = await impersonationHarness();
    const { client } = harness;
    const headers = await acting(harness);
    const url = `/account${path}`;
    const answer = await (method === "POST"
      ? client.post(url, { headers, body: body ?? {} })
      : client.delete(url, { headers }));

    expect(answer.json()).toMatchObject(IMPERSONATING);
    expect(await harness.me(await harness.login("ann"))).toMatchObject({ username: "ann" });
  });

  it.each(["/sessions/begin", "/sessions/login", "/sessions/end", "/tokens"])(
    "[auth:AU-304] creates and ends no credentials of the user in the application's own route %s",
    async (path) => {
      const harness = await impersonationHarness();
      const ann = await harness.login("ann");
      const headers = await acting(harness);

      expect((await harness.client.post(path, { headers })).json()).toMatchObject(IMPERSONATING);
      expect(await harness.me(ann)).toMatchObject({ username: "ann" });
    },
  );

  it("is not in the user's list of sessions", async () => {
    const harness = await impersonationHarness();
    const ann = await harness.login("ann");
    const sam = await acting(harness);

    for (const headers of [ann, sam]) {
      const sessions = (await harness.client.get("/account/sessions", { headers })).json() as unknown[];
      expect(sessions).toHaveLength(1);
    }
  });
});

describe("the end", () => {
  const reasons: readonly (readonly [string, (harness: ImpersonationHarness) => Promise<unknown> | void])[] = [
    ["after an hour", ({ clock }) => clock.advance(3_600_000)],
    [
      "when the permission is taken away",
      ({ objects, ids }) => objects.revoke({ identity: ids.sam }, perm("users.impersonate")),
    ],
    [
      "when the administrator loses a permission of the user",
      ({ objects, ids }) => objects.revoke({ identity: ids.sam }, perm("read:books")),
    ],
    [
      "when the user gets a permission that the administrator lacks",
      ({ objects, ids }) => objects.grant({ identity: ids.ann }, perm("write:books")),
    ],
    ["when the administrator is disabled", ({ objects, ids }) => objects.disable({ identity: ids.sam })],
    [
      "when the administrator's password changes",
      ({ objects, ids }) => objects.setPassword({ identity: ids.sam }, "another password entirely"),
    ],
    ["when the user is disabled", ({ objects, ids }) => objects.disable({ identity: ids.ann })],
    ["when the user signs out everywhere", ({ objects, ids }) => objects.renewCredentials({ identity: ids.ann })],
  ];
  it.each(reasons)("[auth:AU-305] comes %s, for requests and sockets at once", async (_when, happen) => {
    const harness = await impersonationHarness();
    const { me } = harness;
    const sam = await acting(harness);
    const live = await liveClient(harness.app);
    const socket = await live.socket("/live", { headers: sam });
    expect(await socket.next()).toBe("ann");

    await happen(harness);

    expect((await socket.closed).code).toBe(4403);
    expect(await me(sam)).toMatchObject(ENDED);
  });

  it("closes sockets when it begins and when it ends, so that none acts as the wrong user", async () => {
    const harness = await impersonationHarness();
    const sam = await harness.login("sam");
    const live = await liveClient(harness.app);
    const before = await live.socket("/live", { headers: sam });
    expect(await before.next()).toBe("sam");
    await harness.act(sam, "ann");
    expect((await before.closed).code).toBe(4403);

    const during = await live.socket("/live", { headers: sam });
    expect(await during.next()).toBe("ann");
    await end(harness, sam);
    expect((await during.closed).code).toBe(4403);
  });

  it("lets the administrator return after the maximum time, or sign in again", async () => {
    const harness = await impersonationHarness();
    const { clock, me, post } = harness;
    const [one, two] = [await acting(harness), await acting(harness)];
    clock.advance(3_600_000);

    expect((await end(harness, one)).status).toBe(204);
    expect(await me(one)).toMatchObject({ username: "sam" });
    expect((await post("/login", { identifier: "sam", password }, undefined, two)).status).toBe(200);
  });
});

const perm = (permission: string): { readonly permissions: readonly string[] } => ({ permissions: [permission] });
