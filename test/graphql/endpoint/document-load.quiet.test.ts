import { expect, it } from "vitest";
import { isLong, type MeasuredServer, measuredServer, tell } from "./measured-server.ts";

const MIB = 1024 ** 2;
const FULL = isLong ? 100_000 : 16_000;
/** Enough to fill what is kept of documents. */
const FILLING = 10_000;
const BATCH = 100;

/** Sends documents, each of them once, and tells how much memory is in use in the end. */
async function send(server: MeasuredServer, from: number, to: number, document: (n: number) => string) {
  for (let sent = from; sent < to; sent += BATCH) {
    const body = Array.from({ length: BATCH }, (_, n) => ({ query: document(sent + n) }));
    const answer = await fetch(server.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
    await answer.arrayBuffer();
  }
  return server.end();
}

it.each<[string, (n: number) => string]>([
  ["good documents and names of operations", (n) => `query Name${n} { hello x${n}: hello node { id } }`],
  ["documents that do not validate", (n) => `query Name${n} { nope${n} }`],
  ["documents that do not parse", (n) => `query Name${n} { hello `],
])(
  "uses as much memory after many different %s as after the first that fill it",
  async (name, document) => {
    const server = await measuredServer();

    const filled = await send(server, 0, FILLING, document);
    const after = await send(server, FILLING, FULL, document);

    const grown = after.heapBytes - filled.heapBytes;
    tell(
      `${FULL} ${name}: ${(after.heapBytes / MIB).toFixed(1)} MB in use, ${(grown / MIB).toFixed(1)} MB more than after ${FILLING}; ${after.names} names counted`,
    );
    expect(grown).toBeLessThan(4 * MIB);
    // The document cache may take 32 MiB.
    expect(after.heapBytes).toBeLessThan(80 * MIB);
    expect(after.names).toBeLessThanOrEqual(1_002);
  },
  isLong ? 300_000 : 60_000,
);
