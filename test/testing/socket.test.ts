import { HttpException, PorticoApp } from "portico";
import { type LiveClient, liveClient, SocketRefused } from "portico/testing";
import { afterEach, expect, it } from "vitest";

const app = (): PorticoApp =>
  new PorticoApp({ logger: false })
    .socket("/echo", { protocols: ["chat"] }, async ({ socket, request }) => {
      socket.send(request.headers["x-who"] ?? "nobody");
      for await (const message of socket) {
        if (message === "bye") socket.close(4001, "as you wish");
        else socket.send(message);
      }
    })
    .socket(
      "/members",
      {
        middleware: [
          () => {
            throw new HttpException(401, "Who are you?", { code: "WHO", headers: { "www-authenticate": "Bearer" } });
          },
        ],
      },
      () => {},
    );

let client: LiveClient | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
});

it("a test socket sends, reads messages one by one or in a loop, and reports how it closed", async () => {
  client = await liveClient(app());
  const socket = await client.socket("/echo", { headers: { "x-who": "ann" }, protocols: ["other", "chat"] });

  const first = await socket.next();
  socket.send("one");
  socket.send(new Uint8Array([116, 119, 111]));
  socket.send("bye");
  const rest: string[] = [];
  for await (const message of socket) rest.push(message);

  expect([first, rest]).toEqual(["ann", ["one", "two"]]);
  expect(socket.protocol).toBe("chat");
  expect(await socket.closed).toEqual({ code: 4001, reason: "as you wish" });
});

it("waiting for a message rejects when the socket closes", async () => {
  client = await liveClient(app());
  const socket = await client.socket("/echo");
  await socket.next();

  const waiting = socket.next();
  socket.close(1000);

  await expect(waiting).rejects.toThrow("the socket closed before another message arrived");
});

it("a test socket can disconnect like a crashed client", async () => {
  client = await liveClient(app());
  const socket = await client.socket("/echo");

  socket.terminate();

  expect(await socket.closed).toMatchObject({ code: 1006 });
});

it("a rejected socket rejects with SocketRefused, which has the response", async () => {
  client = await liveClient(app());

  const refused = await client.socket("/members").catch((error: unknown) => error);

  expect(refused).toBeInstanceOf(SocketRefused);
  const { response, message, name } = refused as SocketRefused;
  expect(response.status).toBe(401);
  expect(response.headers["www-authenticate"]).toBe("Bearer");
  expect(response.json()).toMatchObject({ code: "who", detail: "Who are you?" });
  expect([name, message]).toEqual([
    "SocketRefused",
    expect.stringMatching(/^the server rejected the socket with 401: \{/),
  ]);
});

it("a missing server rejects with the connection error", async () => {
  const gone = await liveClient(app());
  await gone.close();

  await expect(gone.socket("/echo")).rejects.toThrow(/ECONNREFUSED/);
});
