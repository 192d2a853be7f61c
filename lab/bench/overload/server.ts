import { setTimeout as sleep } from "node:timers/promises";
import { authentication } from "../../../src/auth/index.ts";
import { memoryStores, PorticoApp } from "../../../src/index.ts";
import { migrate, openDatabase, userModel } from "../../../src/sql/index.ts";
import type { CounterStore } from "../../../src/stores/counter-store.ts";
import { ANN } from "./ann.ts";

/** What a request costs: CPU time before and after it waited for something, as a database would have it. */
const WORK_MS = 1;
const WAIT_MS = 5;

const { durable, counters, bus } = memoryStores();
// They count, but never reject a request: the clients all have one address, as no attacker would.
const patient: CounterStore = {
  increment: async (key, windowMs) => ({ ...(await counters.increment(key, windowMs)), value: 1 }),
  reset: (key, windowMs) => counters.reset(key, windowMs),
};
const database = openDatabase("sqlite::memory:");
await migrate(database, "up");
const User = userModel(database);
await User.objects.createUser({ email: "ann@example.org", username: ANN.identifier, password: ANN.password });

const app = new PorticoApp({ logger: false, shutdown: { signals: [] }, stores: { durable, counters: patient, bus } })
  .get("/page", async () => {
    work(WORK_MS / 2);
    await sleep(WAIT_MS);
    work(WORK_MS / 2);
    return { items: [1, 2, 3] };
  })
  .get("/plain", () => {
    work(WORK_MS);
    return { ok: true };
  });
app.use(
  authentication({
    userModel: User,
    secret: "a secret of the benchmark, long enough",
    audience: "bench",
    mailer: async () => {},
    onEvent() {},
  }),
);

function work(ms: number): void {
  const { user, system } = process.cpuUsage();
  for (;;) {
    const now = process.cpuUsage();
    if (now.user + now.system - user - system >= ms * 1000) return;
  }
}

const { port } = await app.listen({ port: 0 });
process.on("disconnect", () => process.exit(0));
process.send?.({ port });
