import { currentContext, type PorticoApp, revoked } from "portico";
import { APIKeyAuthBackend, APIKeys, type CreatedAPIKey, SimpleUser } from "portico/auth";
import { liveClient, logCatcher, manualClock, testClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { MemoryPubSub } from "../../../src/stores/memory-pub-sub.ts";
import { overBoth } from "../../matrix.ts";
import { RecordingStore } from "../sessions/recording-store.ts";
import { checksum } from "./checksum.ts";
import { ANN, by, keyApp, make } from "./key-app.ts";

describe("a key", () => {
  let store: RecordingStore;
  const build = (): PorticoApp => {
    store = new RecordingStore();
    return keyApp({ durable: store });
  };

  overBoth(
    "[BCK-07] [BCK-08] [BCK-09] in X-API-Key signs its owner in, with the scope apikey; another does not",
    () => keyApp(),
    async (client) => {
      const { key } = await make(client, {}, { "x-session": "9" });
      const { key: other } = await make(testClient(keyApp()));

      const known = await client.get("/me", by(key));
      const unknown = await client.get("/open", by(other));

      expect([known.status, known.json()]).toEqual([200, { who: "9", auth: "apikey" }]);
      expect([unknown.status, unknown.json()]).toEqual([200, { who: "", auth: null }]);
      expect((await client.get("/me", by(other))).status).toBe(401);
      expect((await client.get("/by-key", by(key))).status).toBe(200);
    },
  );

  it("[BCK-09] authenticates its owner: loadUser is called with the identity as a string", async () => {
    const asked: unknown[] = [];
    const client = testClient(
      keyApp({ loadUser: async (identity) => (asked.push(identity), new SimpleUser(identity)) }),
    );
    const { key } = await make(client, {}, { "x-session": "9" });
    asked.length = 0;

    await client.get("/me", by(key));

    expect(asked).toEqual(["9"]);
  });

  overBoth("[BCK-35] has the form pk_<id>_<secret><crc>, its checksum right", build, async (client) => {
    const { key, id } = await make(client);

    expect(key).toMatch(/^pk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
    expect(key.slice(3, 15)).toBe(id);
    expect(key.slice(-6)).toBe(checksum(key.slice(0, -6)));
    expect((await make(client)).key).not.toBe(key);
  });

  overBoth("[BCK-36] [auth:AU-158] is stored as its SHA-256 alone", build, async (client) => {
    const { key, lastFour } = await make(client, { name: "backup" });
    await client.get("/me", by(key));

    expect(store.text).toContain("backup");
    expect(store.text).not.toContain(key);
    expect(store.text).not.toContain(key.split("_")[2]);
    expect(store.text).not.toContain(key.slice(-10));
    expect(lastFour).toBe(key.slice(-4));
  });

  overBoth("[BCK-39] [auth:AU-158] is shown once: a list has how it begins and ends", build, async (client) => {
    const first = await client.post("/keys", { headers: ANN, body: { name: "backup" } });
    const { key, id } = first.json() as CreatedAPIKey;
    await make(client, { name: "newer" });

    const listed = await client.get("/keys", { headers: ANN });
    const others = await client.get("/keys", { headers: { "x-session": "bob" } });

    expect(listed.json()).toEqual([
      expect.objectContaining({ name: "newer" }),
      {
        id,
        user: "ann",
        name: "backup",
        prefix: key.slice(0, 15),
        lastFour: key.slice(-4),
        permissions: null,
        perMinute: null,
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
        lastUsedAt: null,
      },
    ]);
    expect(listed.text()).not.toContain(key.slice(16, -4));
    expect(others.json()).toEqual([]);
  });

  overBoth("[BCK-37] [auth:AU-154] may do what both it and its owner may, nothing more", build, async (client) => {
    const narrow = await make(client, { permissions: ["read:books", "delete:books"] });
    const wide = await make(client);
    const none = await make(client, { permissions: [] });
    const statuses = async (key: string) =>
      Promise.all(["/read", "/write", "/me"].map(async (path) => (await client.get(path, by(key))).status));

    expect(await statuses(narrow.key)).toEqual([200, 403, 200]);
    expect(await statuses(wide.key)).toEqual([200, 200, 200]);
    expect(await statuses(none.key)).toEqual([403, 403, 200]);
  });

  overBoth("[auth:AU-155] makes and renews no keys", build, async (client) => {
    const { key, id } = await make(client);

    const made = await client.post("/keys", { ...by(key), body: {} });
    const renewed = await client.post(`/keys/${id}/renew`, { ...by(key), body: {} });

    expect([made.status, renewed.status]).toEqual([403, 403]);
    expect((await client.get("/keys", { headers: ANN })).json()).toHaveLength(1);
    expect((await client.get("/me", by(key))).status).toBe(200);
  });
});

describe("an end", () => {
  it("[BCK-38] [auth:AU-153] comes after 365 days, after expiresInSeconds, or never", async () => {
    const clock = manualClock();
    const store = new RecordingStore({ clock });
    const client = await liveClient(keyApp({ clock, durable: store }));
    const [usual, short, lasting] = [
      await make(client),
      await make(client, { expiresInSeconds: 60 }),
      await make(client, { expiresInSeconds: "never" }),
    ];
    const statuses = async () =>
      Promise.all([usual, short, lasting].map(async ({ key }) => (await client.get("/me", by(key))).status));

    clock.advance(59_999);
    const before = await statuses();
    clock.advance(1);
    const after = await statuses();
    clock.advance(365 * 86_400_000 - 60_001);
    const yearLater = await statuses();
    clock.advance(1);
    const over = await statuses();

    expect([before, after, yearLater, over]).toEqual([
      [200, 200, 200],
      [200, 401, 200],
      [200, 401, 200],
      [401, 401, 200],
    ]);
    expect((await client.get("/keys", { headers: ANN })).json()).toHaveLength(1);
    await client.close();
  });

  it("[auth:AU-153] comes even if the store's clock stands still", async () => {
    const clock = manualClock();
    // The store's clock stands still, so the store keeps expired keys.
    const client = testClient(keyApp({ clock, durable: new RecordingStore() }));
    const { key } = await make(client, { expiresInSeconds: 60 });

    clock.advance(60_000);

    expect((await client.get("/me", by(key))).status).toBe(401);
  });

  overBoth(
    "[auth:AU-153] comes when it is revoked, at once, by its owner alone; and with its owner",
    () => keyApp({ loadUser: async (identity) => (identity === "gone" ? null : new SimpleUser(identity)) }),
    async (client) => {
      const [mine, other] = [await make(client), await make(client)];

      const foreign = await client.delete(`/keys/${mine.id}`, { headers: { "x-session": "bob" } });
      const strange = await client.delete("/keys/nothing", { headers: ANN });
      expect([foreign.status, strange.status, (await client.get("/me", by(mine.key))).status]).toEqual([404, 404, 200]);
      const revokedOne = await client.delete(`/keys/${mine.id}`, { headers: ANN });
      const again = await client.delete(`/keys/${mine.id}`, { headers: ANN });

      expect(revokedOne.status).toBeLessThan(300);
      expect(again.status).toBe(404);
      expect((await client.get("/me", by(mine.key))).status).toBe(401);
      expect((await client.get("/me", by(other.key))).status).toBe(200);
      expect((await client.delete("/keys", { headers: ANN })).json()).toBe(1);
      expect((await client.get("/me", by(other.key))).status).toBe(401);
    },
  );

  it("[auth:AU-153] a key of a disabled owner is rejected", async () => {
    const disabled = new Set<string>();
    const client = testClient(
      keyApp({ loadUser: async (identity) => (disabled.has(identity) ? null : new SimpleUser(identity)) }),
    );
    const { key } = await make(client);

    expect((await client.get("/me", by(key))).status).toBe(200);
    disabled.add("ann");
    expect((await client.get("/me", by(key))).status).toBe(401);
  });

  it("is published on the bus, and revokes the key even if the bus fails", async () => {
    const bus = new MemoryPubSub();
    const client = testClient(keyApp({ stores: { bus } }));
    const [first, second, third] = [await make(client), await make(client), await make(client)];
    const events = bus.subscribe(revoked)[Symbol.asyncIterator]();

    await client.delete(`/keys/${first.id}`, { headers: ANN });
    await client.post(`/keys/${second.id}/renew`, { headers: ANN, body: {} });
    const told = [(await events.next()).value, (await events.next()).value];
    bus.publish = () => Promise.reject(new Error("the bus is down"));
    const answer = await client.delete(`/keys/${third.id}`, { headers: ANN });

    expect(told).toEqual([first, second].map(({ id }) => ({ user: "ann", credential: `apikey:${id}` })));
    expect(answer.status).toBeLessThan(300);
    expect((await client.get("/me", by(third.key))).status).toBe(401);
    await events.return?.();
  });

  it("closes the sockets that were opened with the key", async () => {
    const client = await liveClient(keyApp());
    const [{ key, id }, kept] = [await make(client), await make(client)];
    const [socket, other] = [await client.socket("/socket", by(key)), await client.socket("/socket", by(kept.key))];
    expect([await socket.next(), await other.next()]).toEqual(["ann", "ann"]);

    await client.delete(`/keys/${id}`, { headers: ANN });

    expect((await socket.closed).code).toBeGreaterThan(1_000);
    other.send("still here");
    expect(await other.next()).toBe("still here");
    await client.close();
  });
});

it("rechecking an open socket is not a use, and the socket closes with its key", async () => {
  const store = new RecordingStore();
  const client = await liveClient(keyApp({ durable: store, recheckSeconds: 0.1 }));
  const { key, id } = await make(client, { perMinute: 1 });
  const socket = await client.socket("/socket", by(key));
  await socket.next();
  store.take();

  await vi.waitFor(() => expect(store.calls.length).toBeGreaterThan(2), 60_000);
  socket.send("still here");
  expect(await socket.next()).toBe("still here");
  // No event is published: only the record is gone.
  await store.delete(`apikey:${id}`);

  expect((await socket.closed).code).toBeGreaterThan(1_000);
  await client.close();
});

it("is rechecked outside its request with the stores of its application", async () => {
  const app = keyApp();
  let recheck: (() => Promise<boolean>) | undefined;
  app.get("/hold", ({ ctx }) => {
    recheck = ctx.identity.recheck;
  });
  const client = testClient(app);
  const { key } = await make(client);
  await client.get("/hold", by(key));

  expect(currentContext()).toBe(null);
  expect(await recheck?.()).toBe(true);
  await client.delete("/keys", { headers: ANN });
  expect(await recheck?.()).toBe(false);
});

describe("renewing", () => {
  it("keeps id, name and permissions, and invalidates the old secret at once", async () => {
    const client = testClient(keyApp());
    const old = await make(client, { name: "backup", permissions: ["read:books"], expiresInSeconds: 600 });

    const renewed = (await client.post(`/keys/${old.id}/renew`, { headers: ANN, body: {} })).json() as CreatedAPIKey;

    expect([renewed.id, renewed.name, renewed.permissions]).toEqual([old.id, "backup", ["read:books"]]);
    expect(renewed.key).not.toBe(old.key);
    expect((await client.get("/read", by(old.key))).status).toBe(401);
    expect((await client.get("/read", by(renewed.key))).status).toBe(200);
    expect((await client.get("/keys", { headers: ANN })).json()).toHaveLength(1);
  });

  it("keeps the old secret valid for overlapSeconds, and restarts the lifetime", async () => {
    const clock = manualClock();
    const client = testClient(keyApp({ clock, durable: new RecordingStore({ clock }) }));
    const old = await make(client, { expiresInSeconds: 600 });
    clock.advance(500_000);

    const answer = await client.post(`/keys/${old.id}/renew`, { headers: ANN, body: { overlapSeconds: 60 } });
    const { key } = answer.json() as CreatedAPIKey;
    const statuses = async () => [
      (await client.get("/me", by(old.key))).status,
      (await client.get("/me", by(key))).status,
    ];

    clock.advance(59_999);
    expect(await statuses()).toEqual([200, 200]);
    clock.advance(1);
    expect(await statuses()).toEqual([401, 200]);
    clock.advance(539_999);
    expect(await statuses()).toEqual([401, 200]);
    clock.advance(1);
    expect(await statuses()).toEqual([401, 401]);
  });

  it("is possible only for the owner", async () => {
    const client = testClient(keyApp());
    const { id, key } = await make(client);

    const answer = await client.post(`/keys/${id}/renew`, { headers: { "x-session": "bob" }, body: {} });

    expect([answer.status, (await client.get("/me", by(key))).status]).toEqual([404, 200]);
  });
});

describe("the last use", () => {
  it("[auth:AU-159] is written at most once a minute, and listed", async () => {
    const clock = manualClock();
    const store = new RecordingStore({ clock });
    const client = testClient(keyApp({ clock, durable: store }));
    const { key } = await make(client);
    const writes = async (): Promise<number> => {
      for (let request = 0; request < 5; request++) await client.get("/me", by(key));
      return store.take().filter((call) => call === "compareAndSet apikey").length;
    };
    store.take();

    const counts = [await writes()];
    clock.advance(59_999);
    counts.push(await writes());
    clock.advance(1);
    counts.push(await writes());

    const [listed] = (await client.get("/keys", { headers: ANN })).json() as { lastUsedAt: string }[];
    expect(counts).toEqual([1, 0, 1]);
    expect(new Date(listed?.lastUsedAt ?? 0).getTime()).toBe(clock.now());
  });

  it("[auth:AU-159] neither fails nor delays a request if it cannot be written", async () => {
    const logs = logCatcher();
    const store = new RecordingStore();
    const client = await liveClient(keyApp({ durable: store, logger: logs }));
    const { key } = await make(client);
    store.before = (operation) => {
      if (operation === "compareAndSet") throw new Error("the disk is full");
    };
    const failing = await client.get("/me", by(key));
    store.before = (operation) => (operation === "compareAndSet" ? new Promise<void>(() => {}) : undefined);
    const hanging = await client.get("/me", by(key));

    expect([failing.status, hanging.status]).toEqual([200, 200]);
    expect(logs.lines.filter(({ msg }) => msg === "failed to record the use of an API key")).toHaveLength(1);
    expect(logs.text).not.toContain(key.slice(16));
    await client.close();
  });

  it("does not bring back a key that is revoked in the same moment", async () => {
    const store = new RecordingStore();
    const client = testClient(keyApp({ durable: store }));
    const { key, id } = await make(client);
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    store.before = (operation, at) => (operation === "compareAndSet" && at.startsWith("apikey:") ? gate : undefined);

    const used = await client.get("/me", by(key));
    await client.delete(`/keys/${id}`, { headers: ANN });
    open();
    await new Promise((resolve) => setImmediate(resolve));

    expect(used.status).toBe(200);
    expect((await client.get("/me", by(key))).status).toBe(401);
    expect((await client.get("/keys", { headers: ANN })).json()).toEqual([]);
  });
});

describe("a limit", () => {
  overBoth(
    "[auth:AU-160] of the key is answered 429 with Retry-After, never 401; other keys go on",
    () => keyApp({ perMinute: 4 }),
    async (client) => {
      const [own, usual] = [await make(client, { perMinute: 2 }), await make(client)];
      const statuses: [number[], number[]] = [[], []];
      for (let request = 0; request < 6; request++) {
        statuses[0].push((await client.get("/me", by(own.key))).status);
        statuses[1].push((await client.get("/me", by(usual.key))).status);
      }
      const refused = await client.get("/me", by(own.key));
      const open = await client.get("/open", by(own.key));

      expect(statuses).toEqual([
        [200, 200, 429, 429, 429, 429],
        [200, 200, 200, 200, 429, 429],
      ]);
      expect((refused.json() as { code: string }).code).toBe("rate_limited");
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
      expect([open.status, open.json()]).toEqual([200, { who: "", auth: null }]);
    },
  );

  it("is not used up by a caller who only knows the id", async () => {
    const client = testClient(keyApp());
    const { key, id } = await make(client, { perMinute: 1 });
    const wrong = `pk_${id}_${"0".repeat(43)}`;

    for (let request = 0; request < 5; request++)
      expect((await client.get("/me", by(wrong + checksum(wrong)))).status).toBe(401);

    expect((await client.get("/me", by(key))).status).toBe(200);
  });

  it("does not apply unless one is set", async () => {
    const client = testClient(keyApp());
    const { key } = await make(client);

    const answers = await Promise.all(Array.from({ length: 200 }, () => client.get("/me", by(key))));

    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });
});

describe("a store that is down", () => {
  it("makes a caller with a key unknown: 503, and 401 without one", async () => {
    const store = new RecordingStore();
    const client = await liveClient(keyApp({ durable: store }));
    const { key } = await make(client);
    store.before = () => {
      throw new Error("the store is down");
    };

    const [withKey, without, open] = [
      await client.get("/me", by(key)),
      await client.get("/me"),
      await client.get("/open", by(key)),
    ];
    const list = await client.get("/keys", { headers: ANN });

    expect([withKey.status, without.status, open.status, list.status]).toEqual([503, 401, 200, 503]);
    expect(withKey.headers["retry-after"]).toBeDefined();
    store.before = () => {};
    expect((await client.get("/me", by(key))).status).toBe(200);
    await client.close();
  });
});

describe("APIKeys", () => {
  it("works outside requests with a store, and throws without one", async () => {
    const store = new RecordingStore();
    const keys = new APIKeys({ store });
    const ann = new SimpleUser("ann");
    const { key, id } = await keys.create(ann, { name: "script" });

    expect(await keys.verify(key)).toMatchObject({ id, user: "ann", name: "script" });
    expect(await keys.verify("pk_nothing")).toBe(null);
    const client = testClient(keyApp({ durable: store }));
    expect((await client.get("/me", by(key))).status).toBe(200);
    expect(await keys.revoke(ann, id)).toBe(true);
    expect((await client.get("/me", by(key))).status).toBe(401);
    await expect(new APIKeys().list(ann)).rejects.toThrow("create it with new APIKeys({ store })");
  });

  it("rejects an anonymous user, and more keys than the maximum", async () => {
    const keys = new APIKeys({ store: new RecordingStore(), maxPerUser: 2 });
    const ann = new SimpleUser("ann");
    const first = await keys.create(ann);
    await keys.create(ann);

    await expect(keys.create(ann)).rejects.toMatchObject({ status: 409 });
    await keys.revoke(ann, first.id);
    await keys.create(ann);
    await expect(keys.create(new SimpleUser(""))).rejects.toThrow(TypeError);
    expect(await keys.list(ann)).toHaveLength(2);
  });

  it("a key created while all are revoked is either listed or invalid", async () => {
    const store = new RecordingStore();
    const keys = new APIKeys({ store });
    const ann = new SimpleUser("ann");

    const [made] = await Promise.all([
      Promise.allSettled(Array.from({ length: 10 }, () => keys.create(ann))),
      keys.revokeAll(ann),
      keys.revokeAll(ann),
    ]);
    const alive = [];
    for (const entry of made)
      if (entry.status === "fulfilled" && (await keys.verify(entry.value.key)) !== null) alive.push(entry.value.id);

    expect((await keys.list(ann)).map(({ id }) => id).toSorted()).toEqual(alive.toSorted());
    await keys.revokeAll(ann);
    expect([...store.entries.keys()].filter((key) => key.startsWith("apikey:"))).toEqual([]);
  });

  it.each([
    [() => new APIKeys({ store: {} as never }), "APIKeys.store"],
    [() => new APIKeys({ store: undefined as never }), "APIKeys.store"],
    [() => new APIKeys({ maxPerUser: 0 }), "APIKeys.maxPerUser"],
    [() => new APIKeyAuthBackend({ header: "Cookie" }), "APIKeyAuthBackend.header"],
    [() => new APIKeyAuthBackend({ header: "x api key" }), "APIKeyAuthBackend.header"],
    [() => new APIKeyAuthBackend({ perMinute: 0 }), "APIKeyAuthBackend.perMinute"],
    [() => new APIKeyAuthBackend({ keys: {} as never }), "APIKeyAuthBackend.keys"],
    [() => new APIKeyAuthBackend({ keys: new APIKeys(), store: new RecordingStore() }), "APIKeyAuthBackend"],
  ])("a wrong option is rejected and named", (build, option) => {
    expect(build).toThrow(expect.objectContaining({ name: "ConfigurationError", option }));
  });

  it.each([
    { permissions: undefined },
    { permissions: "read:books" },
    { expiresInSeconds: 0 },
    { expiresInSeconds: 1.5 },
    { expiresInSeconds: "soon" },
    { expiresInSeconds: undefined },
    { perMinute: 0 },
    { name: "x".repeat(201) },
    { user: "bob" },
  ])("create rejects %j", async (options) => {
    const keys = new APIKeys({ store: new RecordingStore() });

    await expect(keys.create(new SimpleUser("ann"), options as never)).rejects.toThrow("APIKeys.create");
  });
});

it("a custom header is read instead, in any case", async () => {
  const client = testClient(keyApp({ header: "X-Shop-Key" }));
  const { key } = await make(client);

  expect((await client.get("/me", { headers: { "x-shop-key": key } })).status).toBe(200);
  expect((await client.get("/me", by(key))).status).toBe(401);
});
