import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type RawConnection, rawConnection } from "../../http/raw-connection.ts";
import { CONTENT_TYPE } from "../uploads/multipart-form.ts";
import { type Figures, isLong, type MeasuredServer, measuredServer, tell } from "./measured-server.ts";
import { head, piece, TAIL, upload } from "./sent-upload.ts";

const MIB = 1024 ** 2;

describe("an upload", () => {
  it("whose client disconnects leaves no file, no handle and no open dependency", async () => {
    const server = await measuredServer();
    const rounds = isLong ? 500 : 50;
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
