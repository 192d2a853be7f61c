import { ServiceUnavailable } from "portico";
import { type Client, createClient, memoryTokens, storedTokens, type Tokens } from "portico-client";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { credentials } from "./client-app.ts";
import { clientServer, heldRefresh, signedIn, spoil } from "./client-server.ts";

const many = <T>(work: () => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
  Promise.allSettled(Array.from({ length: 20 }, work));
const refreshes = (seen: readonly string[]): number => seen.filter((line) => line === "POST /account/refresh").length;

// Web Locks are shared by tabs. Node 22 and older browsers do not have them.
describe.each(["with", "without"])("tokens, %s Web Locks,", (locks) => {
  beforeEach(() => {
    if (locks === "without") vi.stubGlobal("navigator", undefined);
    onTestFinished(() => void vi.unstubAllGlobals());
  });

  it("are refreshed once for 20 parallel requests that got 401, and each of them succeeds", async () => {
    const { url, seen } = await clientServer();
    const { client, tokens } = await signedIn(url);
    await spoil(tokens);

    const results = await many(() => client.get("/secret"));

    expect(results.filter(({ status }) => status === "rejected")).toEqual([]);
    expect(refreshes(seen)).toBe(1);
    expect(seen.filter((line) => line === "GET /secret")).toHaveLength(40);
  });

  it("are removed once if the refresh token is invalid, and each request rejects with its own 401", async () => {
    const { url, seen } = await clientServer();
    const { client, tokens, signOuts } = await signedIn(url);
    await tokens.set({ ...((await tokens.get()) as Tokens), accessToken: "not.a.token", refreshToken: "not a token" });

    const results = await many(() => client.get("/secret"));

    const reasons = results.map((result) => result.status === "rejected" && result.reason.code);
    expect(new Set(reasons)).toEqual(new Set(["UNAUTHENTICATED"]));
    expect(refreshes(seen)).toBe(1);
    expect(signOuts).toMatchObject([{ status: 401 }]);
    expect(await tokens.get()).toBeNull();
  });
});

describe("tokens", () => {
  it("are refreshed once for REST and GraphQL together, where a denied field has status 200", async () => {
    const { url, seen } = await clientServer();
    const { client, tokens } = await signedIn(url);
    await spoil(tokens);

    const results = await Promise.all([client.get("/secret"), client.graphql("{ hello secret }")]);

    expect(results).toEqual([{ name: "ann" }, { hello: "world", secret: "ann" }]);
    expect(refreshes(seen)).toBe(1);
  });

  it("are refreshed before a request if they have expired", async () => {
    const { url, seen } = await clientServer();
    const { client, tokens } = await signedIn(url);
    await tokens.set({ ...((await tokens.get()) as Tokens), expiresAt: Date.now() });

    await many(() => client.get("/secret"));

    expect(refreshes(seen)).toBe(1);
    expect(seen.filter((line) => line === "GET /secret")).toHaveLength(20);
  });

  it("are kept if the refresh fails during an outage, and work after it", async () => {
    let isDown = false;
    const { url } = await clientServer({
      before: (path) => {
        if (isDown && path === "/account/refresh") throw new ServiceUnavailable("Down", { retryAfterSeconds: 3 });
      },
    });
    const { client, tokens, signOuts } = await signedIn(url);
    await spoil(tokens);

    isDown = true;
    await expect(client.get("/secret")).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE", status: 503 });
    isDown = false;

    expect(await client.get("/secret")).toEqual({ name: "ann" });
    expect(signOuts).toEqual([]);
  });

  it("of a sign-out during a refresh stay removed", async () => {
    const { fetch, arrived, release } = heldRefresh();
    const { url } = await clientServer();
    const { client, tokens, signOuts } = await signedIn(url, { fetch });
    await spoil(tokens);

    const late = client.get("/secret");
    await arrived;
    await client.signOut();
    release();

    await expect(late).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(await tokens.get()).toBeNull();
    expect(signOuts).toEqual([null]);
  });

  it("are not refreshed for a wrong password or an anonymous caller", async () => {
    const { url, seen } = await clientServer();
    const client = createClient({ url, tokens: memoryTokens() });

    await expect(client.signIn({ ...credentials, password: "wrong" })).rejects.toMatchObject({
      code: "INVALID_CREDENTIALS",
    });
    await expect(client.get("/secret")).rejects.toMatchObject({ code: "UNAUTHENTICATED" });

    expect(refreshes(seen)).toBe(0);
  });

  it("end on the server with signOut", async () => {
    const { url } = await clientServer();
    const { client, tokens, signOuts } = await signedIn(url);
    const { accessToken } = (await tokens.get()) as Tokens;

    await client.signOut();

    expect(signOuts).toEqual([null]);
    await expect(client.get("/secret")).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    const headers = { authorization: `Bearer ${accessToken}` };
    await expect(createClient({ url, headers }).get("/secret")).rejects.toMatchObject({ status: 401 });
  });

  it("let a request go that was aborted while it waited for the refresh, and the refresh goes on", async () => {
    const { fetch, arrived, release } = heldRefresh();
    const { client, tokens } = await signedIn((await clientServer()).url, { fetch });
    await spoil(tokens);
    const controller = new AbortController();

    const [aborted, other] = [client.get("/secret", { signal: controller.signal }), client.get("/secret")];
    await arrived;
    controller.abort(new Error("gone"));
    await expect(aborted).rejects.toThrow("gone");
    release();

    expect(await other).toEqual({ name: "ann" });
  });

  it("are shared by the clients of one storage, which ignores a damaged entry", async () => {
    const { url, seen } = await clientServer();
    const entries = new Map<string, string>([["portico-tokens", "{"]]);
    const storage = {
      getItem: (key: string) => entries.get(key) ?? null,
      setItem: (key: string, value: string) => void entries.set(key, value),
      removeItem: (key: string) => void entries.delete(key),
    };
    const tab = (): Client => createClient({ url, tokens: storedTokens(storage) });
    const [one, two] = [tab(), tab()];

    await expect(one.get("/secret")).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    await one.signIn(credentials);
    await spoil(storedTokens(storage));

    expect(await Promise.all([one.get("/secret"), two.get("/secret")])).toEqual([{ name: "ann" }, { name: "ann" }]);
    expect(refreshes(seen)).toBe("locks" in navigator ? 1 : 2);
    await two.signOut();
    expect(entries.size).toBe(0);
  });
});
