import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { root } from "../../scripts/package/repository.ts";

const PROGRAM = `
import { PorticoApp } from "portico";
import { redisStores } from "portico/redis";
await new PorticoApp({ logger: false, stores: redisStores(process.env.REDIS_URL) }).listen({ port: 0 });
`;

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

it("a server with nothing else to do fails with an error that names Redis", async () => {
  const port = await closedPort();
  const doors = pathToFileURL(`${root}examples/bookshop/test/doors.mjs`).href;
  const env = { PATH: process.env["PATH"], REDIS_URL: `redis://127.0.0.1:${port}` };

  const ended = promisify(execFile)(
    process.execPath,
    ["--no-warnings", "--import", doors, "--input-type=module", "--eval", PROGRAM],
    { cwd: root, env },
  );

  await expect(ended).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`cannot start the durable role: no connection to Redis at 127.0.0.1:${port}`),
  });
});
