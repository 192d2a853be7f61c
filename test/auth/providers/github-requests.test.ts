import { github } from "portico/auth";
import { logCatcher } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { person } from "./person.ts";
import { shop } from "./provider-harness.ts";

afterEach(() => void vi.unstubAllGlobals());

const EMAILS = [{ email: "ann@example.org", primary: true, verified: true }];

interface Hub {
  readonly user?: unknown;
  readonly emails?: unknown;
  readonly status?: number;
}

/** Stands in for all servers of GitHub, at whatever URL, and notes the requests. */
async function world({ user = { id: 7 }, emails = EMAILS, status = 200 }: Hub = {}, url?: string) {
  const requests: { readonly method: string; readonly url: string; readonly headers: Headers; body: string }[] = [];
  const log = logCatcher();
  const options = { clientId: "Iv1.client", clientSecret: "the secret", ...(url === undefined ? {} : { url }) };
  const opened = await shop([github(options)], {}, { logger: log });
  const real = fetch;
  vi.stubGlobal("fetch", async (given: string | URL | Request, init?: RequestInit) => {
    const request = new Request(given, init);
    if (request.url.startsWith(opened.url)) return real(request);
    const { method, headers } = request;
    requests.push({ method, url: request.url, headers, body: await request.text() });
    if (request.url.endsWith("/access_token")) return Response.json({ access_token: "gho_1", token_type: "bearer" });
    return Response.json(request.url.endsWith("/emails") ? emails : user, { status });
  });
  return {
    ...opened,
    requests,
    log,
    attempt: async (browser = person()) => {
      const begun = await browser.send(`${opened.url}/account/providers/github`);
      const asked = new URL(begun.headers.get("location") ?? "");
      const callback = `${opened.url}/account/providers/github/callback?code=c&state=${asked.searchParams.get("state")}`;
      const { at } = await browser.open(callback);
      return { asked, end: at.slice(opened.url.length) };
    },
  };
}

describe("a sign-in with GitHub", () => {
  it("asks for the address, and reads the user from the API of github.com", async () => {
    const { url, attempt, requests } = await world();
    const { asked, end } = await attempt();

    expect(end).toBe("/");
    expect(asked.href.split("?")[0]).toBe("https://github.com/login/oauth/authorize");
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      client_id: "Iv1.client",
      response_type: "code",
      scope: "read:user user:email",
      code_challenge_method: "S256",
      redirect_uri: `${url}/account/providers/github/callback`,
    });
    expect(requests.map((request) => `${request.method} ${request.url}`)).toEqual([
      "POST https://github.com/login/oauth/access_token",
      "GET https://api.github.com/user",
      "GET https://api.github.com/user/emails",
    ]);
    expect(Object.fromEntries(new URLSearchParams(requests[0]?.body))).toMatchObject({
      client_id: "Iv1.client",
      client_secret: "the secret",
      code: "c",
      redirect_uri: `${url}/account/providers/github/callback`,
    });
    for (const { headers } of requests.slice(1)) {
      expect(headers.get("accept")).toBe("application/vnd.github+json");
      expect(headers.get("authorization")).toMatch(/^bearer gho_1$/i);
    }
  });

  it("reads the user from the API of a server of your own, with or without a slash at its end", async () => {
    const { attempt, requests } = await world({}, "https://git.acme.com/");
    const { asked, end } = await attempt();

    expect([asked.href.split("?")[0], end]).toEqual(["https://git.acme.com/login/oauth/authorize", "/"]);
    expect(requests.map((request) => request.url)).toEqual([
      "https://git.acme.com/login/oauth/access_token",
      "https://git.acme.com/api/v3/user",
      "https://git.acme.com/api/v3/user/emails",
    ]);
  });

  it("recognises the user by the id alone", async () => {
    const { attempt, events } = await world();
    await attempt();
    await attempt();

    expect(events.filter(({ kind }) => kind === "registered")).toHaveLength(1);
    expect(events.filter(({ kind }) => kind === "login_succeeded")).toHaveLength(2);
  });

  it.each<[string, Hub, string]>([
    ["a user without an id", { user: { login: "ann" } }, "GitHub returned a user without an id"],
    ["an id that is a text", { user: { id: "7" } }, "GitHub returned a user without an id"],
    ["an error", { status: 404 }, "GitHub responded to /user with status 404"],
  ])("fails with %s, and the log says why", async (_, hub, reason) => {
    const { attempt, log } = await world(hub);

    expect((await attempt()).end).toBe("/sign-in?error=provider_sign_in_failed");
    expect(log.lines.filter(({ level }) => level === "warn")).toMatchObject([
      { msg: "the identity provider failed", provider: "github", reasons: [reason] },
    ]);
  });

  it.each([
    ["verified is a text", [{ email: "ann@example.org", primary: true, verified: "true" }]],
    ["primary is a text", [{ email: "ann@example.org", primary: "true", verified: true }]],
    ["the address is not a text", [{ email: 7, primary: true, verified: true }]],
  ])("takes no address if %s", async (_, emails) => {
    const { attempt } = await world({ emails });

    expect((await attempt()).end).toBe("/sign-in?error=provider_email_not_verified");
  });
});
