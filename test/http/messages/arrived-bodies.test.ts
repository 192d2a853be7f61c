import type { PorticoApp } from "portico";
import { expect, it, onTestFinished } from "vitest";
import { rawConnection } from "../raw-connection.ts";
import { startApp } from "../start-app.ts";

// Since Node 26, `read()` returns one packet of a body and not all that have arrived.
it.each([
  ["directly", () => {}],
  ["behind plugins", ({ engine }: PorticoApp) => engine.addHook("onRequest", async () => {})],
])("reads a body as a whole that arrived in several packets: %s", async (_, extend) => {
  const { promise: isWaiting, resolve: wait } = Promise.withResolvers<void>();
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const { port, get } = await startApp((app) => {
    extend(app);
    app.get("/", () => "ok");
    app.post("/", async ({ request }) => {
      wait();
      await isReleased;
      return request.text();
    });
  });
  const connection = await rawConnection(port);
  const { socket } = connection;
  onTestFinished(() => void socket.destroy());
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 20\r\n\r\nfirst part");
  await isWaiting;
  socket.write(" and rest.");
  // The server reads what arrived before these requests.
  for (let n = 0; n < 3; n++) await get("/");
  release();

  expect(await connection.until('"first part')).toContain('"first part and rest."');
});
