import { deepEqual, equal, ok } from "node:assert/strict";
import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { assert, asyncProperty, boolean, integer, type Scheduler } from "fast-check";
import { type Gate, PorticoApp } from "portico";
import { liveClient } from "portico/testing";
import { expect, it } from "vitest";
import { schedules, step } from "./schedules.ts";

/** Real connections need a moment until everything waits for a scheduled step. */
const settled = (): Promise<void> => sleep(2);

/** The number of each request whose handler has begun, and of each that has ended. */
function serving(s: Scheduler) {
  const seen = { begun: [] as string[], ended: [] as string[], said: [] as string[], isClosed: false };
  const slow: Gate<false> = { required: false, scopes: [], check: () => step(s, "the upgrade is accepted") };
  const app = new PorticoApp({ logger: false, shutdown: { deadlineSeconds: 20, signals: [] } })
    .get("/wait/:n", async ({ path }) => {
      seen.begun.push(path.n);
      await step(s, `request ${path.n} is answered`);
      seen.ended.push(path.n);
      return path.n;
    })
    .socket("/socket", { auth: slow }, async ({ socket }) => {
      for await (const message of socket) {
        seen.said.push(String(message));
        socket.send(message);
      }
    });
  app.onClose(() => {
    seen.isClosed = true;
  });
  return { app, seen };
}

/** The responses to one request: its body, its status if that is not 200, or nothing if the connection was refused or reset. */
function ask(port: number, n: number, agent: Agent): Promise<readonly string[]> {
  const answers: string[] = [];
  return new Promise((resolve) => {
    const asking = request({ port, host: "127.0.0.1", path: `/wait/${n}`, agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => void (text += chunk));
      response.once("end", () => void answers.push(response.statusCode === 200 ? text : String(response.statusCode)));
      response.once("close", () => resolve(answers));
    });
    asking.once("error", () => resolve(answers));
    asking.end();
  });
}

it("answers each request that it accepts once and closes each socket with 1001, whenever it shuts down", async () => {
  const run = asyncProperty(
    schedules(settled),
    integer({ min: 1, max: 4 }),
    integer({ min: 0, max: 2 }),
    boolean(),
    async (s, requests, sockets, isKeptAlive) => {
      const { app, seen } = serving(s);
      const client = await liveClient(app);
      const agent = new Agent(isKeptAlive ? { keepAlive: true, maxSockets: 2 } : {});
      let endedAtClose: readonly string[] = [];

      const asking = Array.from({ length: requests }, async (_, n) => {
        await step(s, `request ${n}`);
        return ask(client.port, n, agent);
      });
      const talking = Array.from({ length: sockets }, async (_, n) => {
        await step(s, `socket ${n}`);
        const socket = await client.socket("/socket").catch(() => null);
        if (socket === null) return null;
        await step(s, `message ${n}`);
        const heard: string[] = [];
        socket.send(String(n));
        void (async () => {
          for (;;) heard.push(await socket.next());
        })().catch(() => {});
        return { n, heard, closed: await socket.closed };
      });
      const closing = (async () => {
        await step(s, "shut down");
        await app.close();
        endedAtClose = [...seen.ended];
      })();
      const [answers, talks] = await s.waitFor(Promise.all([Promise.all(asking), Promise.all(talking), closing]));

      ok(seen.isClosed);
      equal(new Set(seen.begun).size, seen.begun.length, "a handler ran twice");
      deepEqual(endedAtClose.toSorted(), seen.begun.toSorted(), "closed before a handler had ended");
      for (const [n, answer] of answers.entries()) {
        const isAccepted = seen.begun.includes(String(n));
        if (isAccepted || answer.length > 0) deepEqual(answer, [isAccepted ? JSON.stringify(String(n)) : "503"]);
      }
      for (const talk of talks) {
        if (talk === null) continue;
        equal(talk.closed.code, 1001);
        ok(talk.heard.length <= 1, "a message was answered twice");
      }
      agent.destroy();
    },
  );

  await expect(assert(run, { numRuns: 150 })).resolves.toBeUndefined();
});
