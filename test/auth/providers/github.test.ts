import { text } from "node:stream/consumers";
import { github } from "portico/auth";
import { describe, expect, it } from "vitest";
import { person } from "./person.ts";
import { loopbackServer, type Shop, shop } from "./provider-harness.ts";

interface GitHub {
  user: unknown;
  emails: unknown;
  /** The body of the last token request. */
  asked: URLSearchParams;
}

/** The part of GitHub Enterprise Server that a sign-in uses. */
async function world(): Promise<Shop & { hub: GitHub; attempt: () => Promise<string> }> {
  const server = await loopbackServer();
  const hub: GitHub = {
    user: { id: 583231, login: "ann" },
    emails: [
      { email: "old@example.org", primary: false, verified: true },
      { email: "ann@example.org", primary: true, verified: true },
    ],
    asked: new URLSearchParams(),
  };
  server.handle = async (request, response) => {
    const url = new URL(request.url ?? "", server.url);
    const json = (body: unknown, status = 200): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (url.pathname === "/login/oauth/authorize") {
      const back = `${url.searchParams.get("redirect_uri")}?code=c&state=${url.searchParams.get("state")}`;
      return void response.writeHead(302, { location: back }).end();
    }
    if (url.pathname === "/login/oauth/access_token") {
      hub.asked = new URLSearchParams(await text(request));
      return json({ access_token: "gho_1", token_type: "bearer", scope: "read:user,user:email" });
    }
    if (request.headers.authorization !== "Bearer gho_1") return json({ message: "Bad credentials" }, 401);
    if (url.pathname === "/api/v3/user") return json(hub.user);
    if (url.pathname === "/api/v3/user/emails") return json(hub.emails);
    json({ message: "Not Found" }, 404);
  };
  const opened = await shop([github({ clientId: "Iv1.client", clientSecret: "secret", url: server.url })]);
  return {
    ...opened,
    hub,
    attempt: async () => (await person().open(`${opened.url}/account/providers/github`)).at.slice(opened.url.length),
  };
}

describe("a sign-in with GitHub", () => {
  it("[auth:AU-233] takes the primary address, and the id as the identity", async () => {
    const { hub, attempt, users, events } = await world();

    const first = await attempt();
    hub.user = { id: 583231, login: "renamed" };
    hub.emails = [];
    const second = await attempt();

    expect([first, second]).toEqual(["/", "/"]);
    expect(await users.objects.get({ email: "ann@example.org" })).toMatchObject({ isVerified: true });
    expect(events.filter(({ kind }) => kind === "registered")).toHaveLength(1);
    expect(hub.asked.get("code_verifier")).toMatch(/^[\w-]{43}$/);
  });

  it.each([
    ["an unverified primary address", [{ email: "ann@example.org", primary: true, verified: false }]],
    ["only other addresses", [{ email: "ann@example.org", primary: false, verified: true }]],
    ["something that is not a list", { message: "?" }],
  ])("registers no user with %s", async (_, emails) => {
    const { hub, attempt } = await world();
    hub.emails = emails;

    expect(await attempt()).toBe("/sign-in?error=provider_email_not_verified");
  });

  it("[auth:AU-234] fails with a user without an id", async () => {
    const { hub, attempt } = await world();
    hub.user = { login: "ann" };

    expect(await attempt()).toBe("/sign-in?error=provider_sign_in_failed");
  });

  it("has no back-channel logout", async () => {
    const { url } = await world();
    const body = new URLSearchParams({ logout_token: "x" });

    const response = await fetch(`${url}/account/providers/github/backchannel-logout`, { method: "POST", body });

    expect(response.status).toBe(404);
  });
});
