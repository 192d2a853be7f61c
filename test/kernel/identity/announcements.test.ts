import { PubSubGap, revoked, userChanged } from "portico";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openSockets, rounds, watchedBus } from "./open-sockets.ts";

const REVOKED = [4403, "the credential was revoked"];

describe("a revocation", () => {
  it("closes all sockets of its user, and those of an administrator who acts as another", async () => {
    const { open, app } = await openSockets();
    const sockets = [
      await open("ada", { id: "key:1" }),
      await open("bob", { id: "key:2", impersonator: "ada" }),
      await open("ada"),
      await open("bob", { impersonator: "carl" }),
      await open(null),
    ];

    await app.stores.bus.publish(revoked, { user: "ada" });
    await app.stores.bus.publish(revoked, { user: "" });
    await expect.poll(() => sockets.filter(({ state }) => state() !== "open").length).toBe(3);
    await rounds();

    expect(sockets.map(({ state }) => state())).toEqual([REVOKED, REVOKED, REVOKED, "open", "open"]);
  });

  it("of one credential closes only the sockets that were opened with it", async () => {
    const { open, app } = await openSockets();
    const sockets = [
      await open("ada", { id: "key:1" }),
      await open("ada", { id: "key:2" }),
      await open("ada"),
      await open("bob", { id: "key:1" }),
    ];

    await app.stores.bus.publish(revoked, { user: "ada", credential: "key:1" });
    await expect.poll(() => sockets[0]?.state()).toEqual(REVOKED);
    await rounds();

    expect(sockets.map(({ state }) => state())).toEqual([REVOKED, "open", "open", "open"]);
  });

  it("that came while a socket was being opened leads to a check, for a minute", async () => {
    let now = 1_000_000;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    const { open, app, checked } = await openSockets();
    await open("first");
    await app.stores.bus.publish(revoked, { user: "ada" });
    await rounds();
    now += 60_000;
    await app.stores.bus.publish(revoked, { user: "bob" });
    await rounds();
    checked.length = 0;

    await open("ada");
    await open("eve", { impersonator: "bob" });
    await open("carl");
    now += 1;
    await app.stores.bus.publish(revoked, { user: "dora" });
    await rounds();
    await open("ada");
    await open("bob");

    expect(checked).toEqual(["ada", "eve", "bob"]);
  });
});

describe("a change of a user", () => {
  it("leads to a check of its sockets at once, and one of the next users with the next beat", async () => {
    const { open, app, pass, checked } = await openSockets();
    for (const name of ["ada", "bob", "carl"]) await open(name);
    await open("eve", { impersonator: "bob" });
    await pass(0);
    checked.length = 0;
    const change = async (user: string | null): Promise<readonly string[]> => {
      await app.stores.bus.publish(userChanged, { user });
      await rounds();
      return checked.splice(0);
    };

    const [first, second, third] = [await change("ada"), await change("bob"), await change("zoe")];
    await pass(0);
    const later = checked.splice(0);
    await pass(0);
    const everyone = await change(null);

    expect([first, second, third, later]).toEqual([["ada"], [], [], ["bob", "eve"]]);
    expect(everyone).toEqual(["ada", "bob", "carl", "eve"]);
  });

  it("from before a socket was opened leads to one check of it", async () => {
    const { open, app, pass, checked } = await openSockets();
    const { socket } = await open("ada");
    await app.stores.bus.publish(userChanged, { user: "ada" });
    await rounds();
    socket.close();
    await socket.closed;
    await rounds();
    await app.stores.bus.publish(userChanged, { user: "bob" });
    await rounds();
    checked.length = 0;

    await open("bob");
    await pass(0);

    expect(checked).toEqual(["bob"]);
  });

  it("closes a socket whose credential is no longer valid", async () => {
    const { open, app, checks } = await openSockets();
    const [ada, bob] = [await open("ada"), await open("bob")];
    checks.isValid = async (name) => name !== "ada";

    await app.stores.bus.publish(userChanged, { user: null });
    await expect.poll(ada.state).toEqual(REVOKED);

    expect(bob.state()).toBe("open");
  });
});

describe("the subscription to revocations and changes", () => {
  it("begins with the first socket, with a check of what was missed, and ends with the application", async () => {
    const { stores, topics, signals } = watchedBus();
    const { open, checked, client } = await openSockets({ stores });
    const before = [...topics];
    await open("ada");
    await open("bob");
    const counts = [topics.length, checked.filter((name) => name === "ada").length];
    await client.close();

    expect(before).toEqual([]);
    expect(topics).toEqual(["portico.revoked", "portico.user-changed"]);
    expect(counts[0]).toBe(2);
    expect(counts[1]).toBeGreaterThan(0);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
  });

  it("begins again at once after a gap, with a check of all sockets", async () => {
    let now = 1_000_000;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    const { stores, topics, interrupt } = watchedBus();
    const { open, app, checked, problems } = await openSockets({ stores });
    const ada = await open("ada");
    await open(null);
    checked.length = 0;

    now += 101;
    interrupt(new PubSubGap("test", "the connection was lost"));
    await rounds();
    const after = [topics.length, checked.length > 0];
    await app.stores.bus.publish(revoked, { user: "ada" });
    await expect.poll(ada.state).toEqual(REVOKED);

    expect(after).toEqual([4, true]);
    expect(problems()).toEqual([]);
  });

  it("begins again after a second if a gap followed at once, or if the bus fails, which is logged", async () => {
    let now = 1_000_000;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    const { stores, topics, interrupt } = watchedBus();
    const { open, problems } = await openSockets({ stores });
    await open("ada");

    now += 100;
    interrupt(new PubSubGap("test", "the connection was lost"));
    await rounds();
    const counts = [topics.length];
    await expect.poll(() => topics.length).toBe(4);
    const lines = problems().length;
    now += 5_000;
    interrupt(new Error("no connection"));
    await rounds();
    counts.push(topics.length);

    expect([counts, lines]).toEqual([[2, 4], 0]);
    expect(problems().map(({ level, msg, topic }) => [level, msg, topic])).toEqual(
      ["portico.revoked", "portico.user-changed"].map((topic) => [
        "error",
        "cannot subscribe to revocations or changes of users; open connections are checked by polling the store",
        topic,
      ]),
    );
  });
});
