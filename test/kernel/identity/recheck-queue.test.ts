import { type AuthScope, identify, userChanged } from "portico";
import { SimpleUser } from "portico/auth";
import { field, schema, subscription, t } from "portico/graphql";
import { afterEach, describe, expect, it, vi } from "vitest";
import { openGraph, rawSocket } from "../../graphql/subscriptions/open.ts";
import { openSockets, rounds } from "./open-sockets.ts";

afterEach(() => void vi.useRealTimers());

/** Checks that go on until a test ends them. */
function pendingChecks() {
  const ends: ((isValid: boolean) => void)[] = [];
  return {
    ends,
    isValid: () =>
      new Promise<boolean>((resolve) => {
        ends.push(resolve);
      }),
  };
}

describe("rechecks", () => {
  it("run for 32 connections at a time, and for the next one when one has finished", async () => {
    const { open, app, checks, checked } = await openSockets();
    const names = Array.from({ length: 35 }, (_, index) => `user ${index}`);
    for (const name of names) await open(name);
    const { ends, isValid } = pendingChecks();
    checks.isValid = isValid;
    checked.length = 0;

    await app.stores.bus.publish(userChanged, { user: null });
    await rounds();
    const counts = [checked.length];
    ends[7]?.(true);
    ends[3]?.(true);
    await rounds();
    counts.push(checked.length);
    for (const end of ends) end(true);
    await rounds();
    counts.push(checked.length);

    expect(counts).toEqual([32, 34, 35]);
    expect(checked).toEqual(names);
    for (const end of ends) end(true);
  });

  it("of one connection do not overlap: however many are requested during one, one more follows", async () => {
    const { open, app, pass, checks, checked } = await openSockets();
    await open("ada");
    const { ends, isValid } = pendingChecks();
    checks.isValid = isValid;
    checked.length = 0;

    for (let count = 0; count < 4; count++) {
      await app.stores.bus.publish(userChanged, { user: "ada" });
      await rounds();
      await pass(0);
    }
    const during = checked.length;
    ends[0]?.(true);
    await rounds();
    const after = checked.length;
    ends[1]?.(true);
    await rounds();

    expect([during, after, checked.length]).toEqual([1, 2, 2]);
  });

  it("leave out a connection that has closed while it waited", async () => {
    const { open, app, checks, checked } = await openSockets();
    for (let count = 0; count < 32; count++) await open(`user ${count}`);
    const [ada, bob] = [await open("ada"), await open("bob")];
    const { ends, isValid } = pendingChecks();
    checks.isValid = isValid;
    checked.length = 0;
    await app.stores.bus.publish(userChanged, { user: null });
    await rounds();

    ada.socket.close();
    await ada.socket.closed;
    await rounds();
    for (const end of ends) end(true);
    await rounds();

    expect(checked.slice(32)).toEqual(["bob"]);
    expect(bob.state()).toBe("open");
    for (const end of ends) end(true);
  });

  it("that take longer than 15 seconds are logged, and no longer hold up others", async () => {
    const { open, app, checks, checked, problems } = await openSockets();
    for (let count = 0; count < 32; count++) await open(`user ${count}`);
    await open("ada");
    checks.isValid = async (name) => name === "ada" || new Promise<boolean>(() => {});
    checked.length = 0;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });

    await app.stores.bus.publish(userChanged, { user: null });
    await rounds();
    const before: unknown[] = [];
    for (const ms of [3_750, 3_750, 3_750, 3_749]) {
      vi.advanceTimersByTime(ms);
      await rounds();
      before.push(checked.length, problems().length);
    }
    vi.advanceTimersByTime(1);
    await rounds();

    expect(before).toEqual([32, 0, 32, 0, 32, 0, 32, 0]);
    expect(checked.slice(32)).toEqual(["ada"]);
    expect(problems()).toHaveLength(32);
    expect(problems()[0]).toMatchObject({ level: "warn", msg: "failed to recheck a credential" });
  });

  it("of a credential that was replaced meanwhile do not close the socket", async () => {
    const { ends, isValid } = pendingChecks();
    const built = schema({
      query: { hello: field(t.string)(() => "world") },
      subscription: { none: subscription(t.int)(async function* () {}) },
    });
    const { client, app } = await openGraph(built, {
      declare: (it) =>
        it.use(async (ctx, next) => {
          const name = ctx.request.headers["authorization"];
          if (name !== undefined)
            identify(ctx, { user: new SimpleUser(name), auth: "jwt" satisfies AuthScope, recheck: isValid });
          await next();
        }),
    });
    const socket = await rawSocket(client, { headers: { authorization: "Bearer ada" } });
    let isClosed = false;
    void socket.closed.then(() => {
      isClosed = true;
    });
    await app.stores.bus.publish(userChanged, { user: null });
    await expect.poll(() => ends.length).toBe(1);

    socket.say({ type: "connection_init", payload: { authorization: "Bearer bob" } });
    await socket.hear();
    ends[0]?.(false);
    await rounds();
    socket.say({ type: "ping" });

    expect(await socket.hear()).toMatchObject({ type: "pong" });
    expect(isClosed).toBe(false);
    for (const end of ends) end(true);
  });
});
