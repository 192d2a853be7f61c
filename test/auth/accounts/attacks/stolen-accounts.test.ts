import { setTimeout as sleep } from "node:timers/promises";
import { memoryStores, type Stores } from "portico";
import { liveClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { rawConnection } from "../../../http/raw-connection.ts";
import { type AccountHarness, accountHarness, ann, password, tokenOf } from "../account-harness.ts";

const THIEF = "thief@evil.example";
const hers = "the password that she chose";
const later = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 5 });

/** Her account, and the thief who is signed in to it by her password. */
async function stolen(options: Parameters<typeof accountHarness>[0] = {}) {
  const harness = accountHarness({ isOwned: true, ...options });
  await harness.post("/register", ann);
  return { ...harness, thief: await harness.session() };
}

async function resetLink({ post, mails }: AccountHarness): Promise<string> {
  await post("/password/reset", { email: ann.email }, "198.51.100.1");
  await later(() => expect(tokenOf(mails, "reset")).not.toBe(""));
  return tokenOf(mails, "reset");
}

/** A request that was let in, and whose body comes later. */
async function waiting(port: number, path: string, cookie: string | undefined, body: object) {
  const text = JSON.stringify(body);
  const slow = await rawConnection(port);
  slow.socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n`,
  );
  await sleep(200);
  return async (): Promise<string> => {
    slow.socket.write(text);
    return slow.until("\r\n\r\n");
  };
}

describe("after the owner has reset the password, the thief cannot regain the account", () => {
  it("with an email change whose body arrives late", async () => {
    const harness = await stolen();
    const client = await liveClient(harness.app);
    const send = await waiting(client.port, "/account/email", harness.thief["cookie"], { email: THIEF });

    await harness.post("/password/reset/confirm", { token: await resetLink(harness), password: hers });
    const answer = await send();

    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    await later(() => expect(harness.mails.map(({ kind }) => kind)).toContain("password_changed"));
    expect(harness.mails.map(({ to }) => to)).not.toContain(THIEF);
    await client.close();
  });

  it("with a password change whose body arrives late, and the password of another account with her former address", async () => {
    const { app, post, users, thief, session } = await stolen();
    const client = await liveClient(app);
    const body = { current_password: "a password of the thief", new_password: "another password of the thief" };
    const send = await waiting(client.port, "/account/password", thief["cookie"], body);
    const her = await users.objects.get({ email: ann.email });
    if (her === null) throw new Error("there is no such user");

    await users.objects.setEmail(her, "ann@new.example");
    await users.objects.setPassword(her, hers);
    await post("/register", { email: ann.email, username: "thief", password: body.current_password });
    const answer = await send();

    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer.toLowerCase()).not.toContain("set-cookie");
    expect(await session("thief", body.current_password)).toMatchObject({ cookie: expect.any(String) });
    await client.close();
  });

  it("with a password change that the reset overtakes", async () => {
    const stores = memoryStores();
    const { promise: reached, resolve: arrive } = Promise.withResolvers<void>();
    const { promise: allowed, resolve: goOn } = Promise.withResolvers<void>();
    const durable = pausing(stores, "email-change-of:", async () => {
      arrive();
      await allowed;
    });
    const { post, users, thief } = await stolen({ stores: { ...stores, durable } });
    const her = await users.objects.get({ email: ann.email });
    if (her === null) throw new Error("there is no such user");

    // Its password is set, and everything is signed out; it has not signed in again yet.
    const changing = post("/password", { current_password: password, new_password: "of the thief" }, undefined, thief);
    await reached;
    await users.objects.setPassword(her, hers);
    goOn();
    const changed = await changing;

    expect(changed.status).toBe(204);
    expect(changed.cookies).toEqual([]);
  });

  it("with credentials left over when the store failed during the reset", async () => {
    const stores = memoryStores();
    let isFull = false;
    const durable: Stores["durable"] = new Proxy(stores.durable, {
      get(target, name: keyof Stores["durable"]) {
        if (name === "set" && isFull) return async () => Promise.reject(new Error("the store is full"));
        const method: unknown = target[name];
        return typeof method === "function" ? method.bind(target) : method;
      },
    });
    const harness = await stolen({ stores: { ...stores, durable } });
    const { post, client, mails, thief } = harness;
    const { key } = (await post("/keys", {}, undefined, thief)).json() as { key: string };
    await post("/email", { email: THIEF }, undefined, thief);
    await later(() => expect(mails.map(({ to }) => to)).toContain(THIEF));
    const token = await resetLink(harness);

    isFull = true;
    const reset = await post("/password/reset/confirm", { token, password: hers });
    isFull = false;

    expect(reset.status).toBeGreaterThanOrEqual(500);
    expect((await post("/login", { identifier: "ann", password: hers }, "198.51.100.2")).status).toBe(200);
    expect((await client.get("/account/me", { headers: { "x-api-key": key } })).status).toBe(401);
    expect((await client.get("/account/me", { headers: thief })).status).toBe(401);
    expect((await post("/email/confirm", { token: tokenOf(mails, "change_email") }, undefined, thief)).status).toBe(
      401,
    );
  });
});

/** The store, which waits before it deletes a key that begins like this. */
function pausing({ durable }: Stores, prefix: string, wait: () => Promise<void>): Stores["durable"] {
  return new Proxy(durable, {
    get(target, name: keyof Stores["durable"]) {
      if (name === "delete")
        return async (key: string) => {
          if (key.startsWith(prefix)) await wait();
          return target.delete(key);
        };
      const method: unknown = target[name];
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
}
