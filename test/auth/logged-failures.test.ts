import { memoryStores, type PubSub, type Stores } from "portico";
import { APIKeys, SimpleUser } from "portico/auth";
import { type CaughtLine, type LogCatcher, logCatcher, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { accountHarness, ann, type HarnessOptions, password } from "./accounts/account-harness.ts";
import { ANN, by, keyApp, make } from "./api-keys/key-app.ts";
import { RecordingStore } from "./sessions/recording-store.ts";
import { sessionApp } from "./sessions/session-app.ts";

const fail = (message: string) => async (): Promise<never> => Promise.reject(new Error(message));

/** Stores whose bus publishes nothing from the moment that `break` is called. */
function breakableBus(): { readonly stores: Stores; readonly break: () => void } {
  const stores = memoryStores();
  let isBroken = false;
  const bus: PubSub = new Proxy(stores.bus, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (name === "publish" && isBroken) return fail("the bus is down");
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
  return { stores: { ...stores, bus }, break: () => void (isBroken = true) };
}

/** A store that fails for writes to keys with this prefix. */
function failingFor(prefix: string): RecordingStore {
  const store = new RecordingStore();
  store.before = (operation, key) => {
    if (operation !== "get" && key.startsWith(prefix)) throw new Error("the store is full");
  };
  return store;
}

const troubles = (log: LogCatcher): readonly CaughtLine[] =>
  log.lines.filter(({ level }) => level === "warn" || level === "error");

describe("a store that fails", () => {
  const full = (prefix: string, logger: LogCatcher) => ({ durable: failingFor(prefix), logger });
  it.each([
    [
      "a sign-in",
      (log: LogCatcher) => testClient(sessionApp(full("session:", log))).post("/login/ann"),
      "Sessions are temporarily unavailable. Try again later.",
      "the session store failed",
    ],
    [
      "a new API key",
      (log: LogCatcher) => testClient(keyApp(full("apikey:", log))).post("/keys", { headers: ANN, body: {} }),
      "API keys are temporarily unavailable. Try again later.",
      "the API key store failed",
    ],
  ])("is 503 for %s, with its error in the log", async (_what, attempt, detail, msg) => {
    const log = logCatcher();

    expect((await attempt(log)).json()).toMatchObject({ status: 503, detail });
    expect(troubles(log)[0]).toMatchObject({ level: "error", msg, err: { message: "the store is full" } });
  });

  it("is 503 outside a request too", async () => {
    const keys = new APIKeys({ store: failingFor("apikey:") });

    await expect(keys.create(new SimpleUser("ann"))).rejects.toMatchObject({
      status: 503,
      cause: { message: "the store is full" },
    });
  });

  it("does not reject an API key whose use it cannot record", async () => {
    const log = logCatcher();
    const store = new RecordingStore();
    const client = testClient(keyApp({ durable: store, logger: log }));
    const { key } = await make(client);
    store.before = (operation) => {
      if (operation === "compareAndSet") throw new Error("the store is full");
    };

    expect((await client.get("/me", by(key))).status).toBe(200);
    await expect
      .poll(() => troubles(log))
      .toMatchObject([
        { level: "warn", msg: "failed to record the use of an API key", err: { message: "the store is full" } },
      ]);
    const keys = new APIKeys({ store });
    expect((await keys.verify(key))?.user).toBe("ann");
  });
});

describe("a bus that fails", () => {
  const warning = (msg: string) => ({ level: "warn", msg, err: { message: "the bus is down" } });

  it.each([
    ["a session", "/logout", ["session revocation"]],
    ["the credentials of a user", "/logout/everywhere", ["session revocation", "credential revocation for a user"]],
  ])("does not keep %s from ending", async (_, path, lost) => {
    const log = logCatcher();
    const bus = breakableBus();
    const harness = accountHarness({ stores: bus.stores, app: { logger: log } });
    onTestFinished(() => harness.app.close());
    await harness.post("/register", ann);
    const headers = await harness.session();
    bus.break();

    expect((await harness.post(path, {}, undefined, headers)).status).toBe(204);
    expect((await harness.client.get("/account/me", { headers })).status).toBe(401);
    expect(troubles(log)).toMatchObject(lost.map((what) => warning(`failed to publish a ${what}`)));
  });

  it("does not keep an API key from ending, inside and outside a request", async () => {
    const log = logCatcher();
    const { stores, break: breakBus } = breakableBus();
    const client = testClient(keyApp({ stores, logger: log }));
    const [first, second] = [await make(client), await make(client)];
    breakBus();

    expect((await client.delete(`/keys/${first.id}`, { headers: ANN })).status).toBe(204);
    expect((await client.get("/me", by(first.key))).status).toBe(401);
    expect(troubles(log)).toMatchObject([warning("failed to publish an API key revocation")]);
    const keys = new APIKeys({ store: stores.durable, bus: stores.bus });
    expect(await keys.revoke(new SimpleUser("ann"), second.id)).toBe(true);
    expect(await keys.verify(second.key)).toBe(null);
  });
});

describe("a function of the application that fails", () => {
  const linesOf = async (account: NonNullable<HarnessOptions["account"]>, count: number) => {
    const log = logCatcher();
    const harness = accountHarness({ account, app: { logger: log } });
    onTestFinished(() => harness.app.close());
    const answer = await harness.post("/register", ann);
    await expect.poll(() => troubles(log)).toHaveLength(count);
    return { answer, lines: troubles(log), harness };
  };

  it("isHuman is logged, and the client is told when to try again", async () => {
    const { answer, lines } = await linesOf({ isHuman: fail("no connection") }, 1);

    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "5"]);
    expect(lines).toMatchObject([{ level: "error", msg: "isHuman failed", err: { message: "no connection" } }]);
  });

  it.each<[string, unknown, string]>([
    ["an error", new RangeError(`${password} was leaked`), "RangeError"],
    ["a text", `${password} was leaked`, "string"],
  ])("isBreached is logged by the kind of %s alone, which may quote the password", async (_, error, kind) => {
    const { answer, lines, harness } = await linesOf({ isBreached: () => Promise.reject(error) }, 1);

    expect(answer.status).toBe(202);
    expect(lines).toMatchObject([{ level: "error", msg: "failed to check a password for breaches", kind }]);
    expect(JSON.stringify(lines)).not.toContain(password);
    expect(harness.events.map(({ kind: name, outcome, user }) => [name, outcome, user])).toContainEqual([
      "breach_check_failed",
      "failure",
      null,
    ]);
  });

  it("the mailer is logged", async () => {
    const { lines } = await linesOf({ verifyEmail: true, mailer: fail("no mail server") }, 1);

    expect(lines).toMatchObject([
      { level: "error", msg: "failed to send an email", err: { message: "no mail server" } },
    ]);
  });

  it("onEvent is logged with the kind of the event", async () => {
    const { answer, lines } = await linesOf({ onEvent: fail("no audit log") }, 1);

    expect(answer.status).toBeLessThan(300);
    expect(lines).toMatchObject([
      {
        level: "error",
        msg: "the onEvent hook failed for an account event",
        kind: "registered",
        err: { message: "no audit log" },
      },
    ]);
  });
});
