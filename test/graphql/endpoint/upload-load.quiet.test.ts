import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { measuredServer, tell } from "./measured-server.ts";
import { piece, upload } from "./sent-upload.ts";

const MIB = 1024 ** 2;

it("an upload of 200 MB goes through in less than 30 MB of memory", async () => {
  // Node's own garbage of 200 MB, the buffers of its sockets, is collected soon with this: what is measured is what is held.
  const server = await measuredServer(["--max-semi-space-size=1"]);
  await upload(server, 64 * MIB);

  await server.begin();
  const { status, body } = await upload(server, 200 * MIB);
  const { grownBytes, opened } = await server.end();

  tell(`200 MB upload: ${(grownBytes / MIB).toFixed(1)} MB of growth`);
  expect([status, JSON.parse(body)]).toMatchObject([200, { data: { add: digestOf(200 * MIB) } }]);
  expect(grownBytes).toBeLessThan(30 * MIB);
  expect([opened, server.files()]).toEqual([0, []]);
});

function digestOf(bytes: number): string {
  const hash = createHash("sha256");
  for (let read = 0; read < bytes; read += piece.length) hash.update(piece);
  return hash.digest("hex");
}
