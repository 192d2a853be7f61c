import { createHash } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type RawConnection, rawConnection } from "../../http/raw-connection.ts";
import { BOUNDARY, CONTENT_TYPE, form, json, map } from "../uploads/multipart-form.ts";
import { type Figures, isLong, type MeasuredServer, measuredServer, tell } from "./measured-server.ts";

const MIB = 1024 ** 2;
const piece: Buffer = Buffer.alloc(65_536, "portico ");
const head = (field: "add" | "hold"): Buffer =>
  Buffer.concat([
    form(
      [
        json("operations", { query: `mutation ($file: Upload!) { ${field}(file: $file) }`, variables: { file: null } }),
        map({ 0: ["variables.file"] }),
      ],
      "\r\n",
    ),
    Buffer.from(
      'Content-Disposition: form-data; name="0"; filename="large.bin"\r\nContent-Type: application/octet-stream\r\n\r\n',
    ),
  ]);
const TAIL: Buffer = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);

/** Sends a file of so many bytes, as fast as it is taken. */
async function upload(
  { port }: MeasuredServer,
  bytes: number,
): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const outgoing = request({
    port,
    method: "POST",
    path: "/graphql",
    agent: false,
    headers: { "content-type": CONTENT_TYPE },
  });
  const answered = once(outgoing, "response");
  outgoing.write(head("add"));
  for (let sent = 0; sent < bytes; sent += piece.length) if (!outgoing.write(piece)) await once(outgoing, "drain");
  outgoing.end(TAIL);
  const [answer] = await answered;
  return { status: answer.statusCode, body: Buffer.concat(await answer.toArray()).toString("utf8") };
}

function digestOf(bytes: number): string {
  const hash = createHash("sha256");
  for (let read = 0; read < bytes; read += piece.length) hash.update(piece);
  return hash.digest("hex");
}

describe("an upload", () => {
  it("of 200 MB goes through in less than 30 MB of memory", async () => {
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

  it("whose client disconnects leaves no file, no handle and no open dependency", async () => {
    const server = await measuredServer();
    const rounds = isLong ? 500 : 100;
    await upload(server, MIB);
    const before = await server.end();
    const until = async (isThere: (figures: Figures) => boolean): Promise<Figures> => {
      for (;;) {
        const figures = await server.end();
        if (isThere(figures)) return figures;
        await sleep(20);
      }
    };

    for (let left = 0; left < rounds; left += 25) {
      const connections = await Promise.all(Array.from({ length: 25 }, (_, n) => begin(server, n)));
      // A fifth was sent whole: their resolvers have the file open by now.
      await until(({ ran, opened }) => ran - before.ran === (left + 25) / 5 && opened === 5);
      await Promise.all(
        connections.map(
          ({ socket, closed }, n) => (n % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()) && closed,
        ),
      );
    }
    const after = await until(({ opened, handles }) => opened === 0 && handles <= before.handles);

    tell(
      `${rounds} uploads left: ${after.handles - before.handles} handles, ${after.opened} dependencies, ${server.files().length} files`,
    );
    expect([after.opened, server.files()]).toEqual([0, []]);
    expect(after.handles).toBeLessThanOrEqual(before.handles);
    expect(after.ran - before.ran).toBe(rounds / 5);
    expect((await upload(server, MIB)).status).toBe(200);
  });

  /** Begins an upload and stops somewhere: before the file, within one in memory, within one on disk, after it. */
  async function begin({ port }: MeasuredServer, n: number): Promise<RawConnection> {
    const connection = await rawConnection(port);
    const { socket } = connection;
    const pieces = [0, 1, 8, 39, 40][n % 5] as number;
    const length = head("hold").length + 40 * piece.length + TAIL.length;
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nContent-Length: ${length}\r\n\r\n`,
    );
    socket.write(head("hold"));
    for (let sent = 0; sent < pieces; sent++) if (!socket.write(piece)) await once(socket, "drain");
    if (pieces === 40) socket.write(TAIL);
    return connection;
  }
});
