import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";

/** A process of the shop, or the proxy in front of several. */
export interface Running {
  readonly url: string;
  close(): Promise<unknown>;
}

/** `npm start` on a free port, with the database and the prefix of this test file. */
export async function startProcess(): Promise<Running> {
  const child = spawn(process.execPath, ["--import", new URL("doors.mjs", import.meta.url).href, "src/server.ts"], {
    cwd: new URL("..", import.meta.url),
    env: { ...process.env, PORT: "0", PUBLIC_URL: "http://shop.example", NODE_ENV: "development" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  for await (const line of createInterface(child.stdout)) {
    const [, url] = /^listening on (\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    return {
      url,
      close: () => {
        child.kill("SIGTERM");
        return ended;
      },
    };
  }
  throw new Error("the shop has ended before it listened");
}

/** Forwards each request to the next process in turn. */
export async function roundRobin(shops: readonly Running[]): Promise<Running> {
  let turn = 0;
  const server: Server = createServer((incoming, answer) => {
    const shop = shops[turn++ % shops.length];
    const { url: path = "/", method, headers } = incoming;
    const onward = request(new URL(path, shop?.url), { method, headers }, (onwardAnswer) => {
      answer.writeHead(onwardAnswer.statusCode ?? 502, onwardAnswer.headers);
      onwardAnswer.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
