import { memoryStores, PorticoApp, type StoreLifeCycle, type Stores } from "portico";
import { testClient } from "portico/testing";
import { expect, it } from "vitest";

/** Stores that write down what is called on them. */
function recordingStores(failing: Partial<Record<"durable" | "counters" | "bus", Error>> = {}): {
  readonly stores: Stores;
  readonly calls: string[];
} {
  const calls: string[] = [];
  const { durable, counters, bus } = memoryStores();
  const lifeOf = (role: "durable" | "counters" | "bus"): Required<StoreLifeCycle> => ({
    start: async () => {
      calls.push(`start ${role}`);
      if (failing[role] !== undefined) throw failing[role];
    },
    check: async () => void calls.push(`check ${role}`),
    close: async () => void calls.push(`close ${role}`),
  });
  const stores = {
    durable: Object.assign(durable, lifeOf("durable")),
    counters: Object.assign(counters, lifeOf("counters")),
    bus: Object.assign(bus, lifeOf("bus")),
  };
  return { stores, calls };
}

it("starts the stores before the hooks and closes them after, each once", async () => {
  const { stores, calls } = recordingStores();
  const app = new PorticoApp({ stores, logger: false });
  app.onStart(() => calls.push("hook"));
  app.onClose(() => calls.push("closing hook"));
  const client = testClient(app);
  await client.get("/");
  await client.get("/");

  await app.close();

  expect(calls.slice(0, 4)).toEqual(["start durable", "start counters", "start bus", "hook"]);
  expect(calls.slice(4)).toEqual(["closing hook", "close durable", "close counters", "close bus"]);
});

it("starts one store once that has several roles", async () => {
  const { stores, calls } = recordingStores();
  const all = Object.assign(stores.durable, {
    increment: stores.counters.increment.bind(stores.counters),
    reset: stores.counters.reset.bind(stores.counters),
  });
  const app = new PorticoApp({ stores: { ...stores, counters: all }, logger: false });

  await app.inject("/");
  await app.close();

  expect(calls).toEqual(["start durable", "start bus", "close durable", "close bus"]);
});

it("does not start without one of them, and leaves none open", async () => {
  const { stores, calls } = recordingStores({ counters: new Error("not there") });

  await expect(new PorticoApp({ stores, logger: false }).listen({ port: 0 })).rejects.toThrow("not there");

  expect(calls.slice(3)).toEqual(["close durable", "close counters", "close bus"]);
});

it("leaves none open when a hook fails", async () => {
  const { stores, calls } = recordingStores();
  const app = new PorticoApp({ stores, logger: false });
  app.onStart(() => {
    throw new Error("not today");
  });

  await expect(app.listen({ port: 0 })).rejects.toThrow("not today");

  expect(calls.slice(3)).toEqual(["close durable", "close counters", "close bus"]);
});

it("closes them when a closing hook fails", async () => {
  const { stores, calls } = recordingStores();
  const app = new PorticoApp({ stores, logger: false });
  app.onClose(() => {
    throw new Error("not today");
  });
  await app.inject("/");

  await expect(app.close()).rejects.toThrow("not today");

  expect(calls.slice(3)).toEqual(["close durable", "close counters", "close bus"]);
});

it("asks them for readiness, under names that a check of the application's own takes precedence of", async () => {
  const { stores, calls } = recordingStores();
  const app = new PorticoApp({ stores, logger: false, health: { checks: { bus: () => calls.push("own bus") } } });

  const ready = await testClient(app).get("/readyz");

  expect(Object.keys((ready.json() as { checks: object }).checks)).toEqual(["durable", "counters", "bus", "writes"]);
  expect(calls.slice(3)).toEqual(["check durable", "check counters", "own bus"]);
  await app.close();
});
