import { openSync } from "node:fs";
import type { PorticoApp } from "../../src/index.ts";
import type { OpenCount } from "./open-count.ts";
import type { Leak } from "./soak-settings.ts";

/** Makes each twentieth request, each request where it is the heap, leave something behind. */
export function leakOnPurpose(app: PorticoApp, leak: Leak, open: OpenCount): void {
  const kept: unknown[] = [];
  let requests = 0;
  app.engine.addHook("onRequest", async () => {
    if (leak === "heap") kept.push(Array.from({ length: 500 }, (_, n) => `kept ${n}`));
    if (requests++ % 20 !== 0) return;
    if (leak === "dependency") open.dependencies++;
    if (leak === "iterator") open.iterators++;
    if (leak === "file") kept.push(openSync("/dev/null", "r"));
    if (leak === "timer") kept.push(setInterval(() => {}, 60_000).unref());
  });
}
