import { type KeyValueStore, memoryStores } from "portico";
import { oidc } from "portico/auth";
import { describe, expect, it } from "vitest";
import { memoryUsers } from "../accounts/memory-users.ts";
import { clientId, clientSecret, type HostileProvider, hostileProvider } from "./hostile-provider.ts";
import { type Person, person } from "./person.ts";
import { type Shop, shop } from "./provider-harness.ts";

const password = "correct horse battery staple";
const isCallback = (at: string): boolean => at.includes("/callback?");

async function world(account: Parameters<typeof shop>[1] = {}): Promise<Shop & { providers: HostileProvider[] }> {
  const providers = [await hostileProvider(), await hostileProvider()];
  const opened = await shop(
    providers.map(({ issuer }, index) => oidc({ name: `acme-${index}`, issuer, clientId, clientSecret })),
    account,
  );
  return { ...opened, providers };
}

async function signedIn({ url, users }: Shop, name: string): Promise<Person> {
  const browser = person();
  if ((await users.objects.get({ username: name })) === null)
    await users.objects.markVerified(
      await users.objects.createUser({ email: `${name}@example.org`, username: name, password }),
    );
  expect((await post(browser, `${url}/account/login`, { identifier: name, password })).status).toBe(200);
  return browser;
}

function post(browser: Person, url: string, body: unknown = {}): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return browser.send(url, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Begins to link, up to the callback. */
async function begun(browser: Person, url: string, name: string): Promise<string> {
  const response = await post(browser, `${url}/account/providers/${name}/link`, { return_to: "/settings" });
  return (await browser.open(((await response.json()) as { url: string }).url, isCallback)).at;
}

async function linked(browser: Person, url: string): Promise<readonly string[]> {
  const response = await browser.send(`${url}/account/providers/linked`);
  return ((await response.json()) as { provider: string }[]).map(({ provider }) => provider);
}

describe("links that change at the same time", () => {
  it("[auth:AU-225] leave at least one way to sign in", async () => {
    for (let round = 0; round < 5; round++) {
      const { url } = await world();
      const browser = person();
      await browser.open(`${url}/account/providers/acme-0`);
      expect((await browser.open(await begun(browser, url, "acme-1"))).at).toBe(`${url}/settings`);

      const replies = await Promise.all(
        ["acme-0", "acme-1"].map((name) => browser.send(`${url}/account/providers/${name}`, { method: "DELETE" })),
      );

      expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, 409]);
      expect(await linked(browser, url)).toHaveLength(1);
    }
  });

  it("[auth:AU-226] never give one account to two users", async () => {
    for (let round = 0; round < 5; round++) {
      const opened = await world();
      const { url } = opened;
      const browsers = [await signedIn(opened, "ann"), await signedIn(opened, "bob")];
      const callbacks = await Promise.all(browsers.map((browser) => begun(browser, url, "acme-0")));

      await Promise.all(browsers.map((browser, index) => browser.open(callbacks[index] ?? "")));

      const owners = (await Promise.all(browsers.map((browser) => linked(browser, url)))).flat();
      expect(owners).toEqual(["acme-0"]);
    }
  });
});

/** A store whose nth write from now on is the last one that works. */
function failingStore(): KeyValueStore & { failAfter: number } {
  const { durable } = memoryStores();
  const store = {
    failAfter: Number.POSITIVE_INFINITY,
    get: (key: string) => durable.get(key),
    set: (...args: Parameters<KeyValueStore["set"]>) => write(() => durable.set(...args)),
    setIfAbsent: (...args: Parameters<KeyValueStore["setIfAbsent"]>) => write(() => durable.setIfAbsent(...args)),
    compareAndSet: (...args: Parameters<KeyValueStore["compareAndSet"]>) => write(() => durable.compareAndSet(...args)),
    delete: (key: string) => write(() => durable.delete(key)),
  };
  async function write<T>(work: () => Promise<T>): Promise<T> {
    if (store.failAfter-- <= 0) throw new Error("the process was killed");
    return work();
  }
  return store;
}

describe("a link that is interrupted", () => {
  it.each([0, 1, 2, 3, 4])(
    "[auth:AU-227] after %i writes never belongs to two users, and can be made again",
    async (writes) => {
      const store = failingStore();
      const opened = await world({ store });
      const { url } = opened;
      const [ann, bob] = [await signedIn(opened, "ann"), await signedIn(opened, "bob")];
      const callback = await begun(ann, url, "acme-0");

      store.failAfter = writes;
      await ann.open(callback);
      store.failAfter = Number.POSITIVE_INFINITY;
      const isAnns = (await linked(ann, url)).length === 1;
      const { at } = await bob.open(await begun(bob, url, "acme-0"));

      expect(isAnns).toBe(writes === 4);
      expect(at).toBe(`${url}/settings${isAnns ? "?error=provider_already_linked" : ""}`);
      expect([await linked(ann, url), await linked(bob, url)].flat()).toEqual(["acme-0"]);
      const someone = person();
      await someone.open(`${url}/account/providers/acme-0`);
      const me = (await (await someone.send(`${url}/account/me`)).json()) as { username: string };
      expect(me.username).toBe(isAnns ? "ann" : "bob");
    },
  );

  it.each([0, 1, 2])(
    "[auth:AU-228] while it is removed, after %i writes, is either valid or can be made again",
    async (writes) => {
      const store = failingStore();
      const opened = await world({ store });
      const { url } = opened;
      const [ann, bob] = [await signedIn(opened, "ann"), await signedIn(opened, "bob")];
      await ann.open(await begun(ann, url, "acme-0"));

      store.failAfter = writes;
      await ann.send(`${url}/account/providers/acme-0`, { method: "DELETE" });
      store.failAfter = Number.POSITIVE_INFINITY;
      await bob.open(await begun(bob, url, "acme-0"));

      expect([await linked(ann, url), await linked(bob, url)]).toEqual(
        writes === 0 ? [["acme-0"], []] : [[], ["acme-0"]],
      );
    },
  );

  it("after the user was created, asks the person to sign in, which a password reset allows", async () => {
    const store = failingStore();
    const users = memoryUsers();
    const createUser: typeof users.objects.createUser = async (input) => {
      const user = await users.objects.createUser(input);
      store.failAfter = 0;
      return user;
    };
    const { url, mails } = await world({
      store,
      userModel: { loadUser: (id) => users.loadUser(id), objects: { ...users.objects, createUser } },
    });
    const browser = person();

    await browser.open(`${url}/account/providers/acme-0`);
    store.failAfter = Number.POSITIVE_INFINITY;
    const { at } = await browser.open(`${url}/account/providers/acme-0`);
    await post(browser, `${url}/account/password/reset`, { email: "ann@acme.com" });
    await expect.poll(() => mails.map(({ kind }) => kind)).toEqual(["reset"]);

    expect(at).toBe(`${url}/sign-in?error=provider_link_required`);
  });
});
