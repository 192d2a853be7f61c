import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Depend, PorticoApp, provide } from "portico";
import { testClient } from "portico/testing";
import { expect, it } from "vitest";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const transaction = provide(async function* () {
  try {
    yield 1;
  } finally {
    await turn();
  }
});

it.each([
  ["a handler", {}],
  ["a handler whose dependencies close later", { params: { transaction: Depend(transaction) } }],
])("the time limit of %s does not keep a request in memory that has ended", async (_name, options) => {
  const seen: WeakRef<object>[] = [];
  const app = new PorticoApp({ logger: false }).get("/", { ...options, timeoutSeconds: 3600 }, async ({ ctx }) => {
    seen.push(new WeakRef(ctx));
    await turn();
    return "done";
  });
  const client = testClient(app);

  for (let n = 0; n < 6; n++) await client.get("/");
  for (let n = 0; n < 10; n++) await turn();
  collect();

  // The last one may still be at hand.
  expect(seen.filter((ref) => ref.deref() !== undefined).length).toBeLessThanOrEqual(1);
});
