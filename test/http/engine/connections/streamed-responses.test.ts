import { ServerResponse } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { PorticoApp } from "portico";
import { logCatcher } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readResponses } from "../../read-responses.ts";
import { ROUTINGS } from "../routings.ts";
import { connected, get } from "./connected.ts";

async function* failing(): AsyncGenerator<string> {
  yield "part";
  throw new Error("the stream failed");
}

describe.each(ROUTINGS)("the streamed response to a request that is routed %s", (_, route) => {
  it("has a time limit only while the client has not taken it", async () => {
    const limits = vi.spyOn(ServerResponse.prototype, "setTimeout");
    onTestFinished(() => limits.mockRestore());
    const stream = new PassThrough();
    const { client } = await connected((app) =>
      route(app)
        .get("/short", () => "short")
        .get("/stream", ({ response }) => response.stream(stream, "text/plain")),
    );

    client.socket.write(get("/short"));
    await client.until('"short"');
    const before = limits.mock.calls.length;
    client.socket.write(get("/stream"));
    stream.end("streamed");
    await client.until("streamed");

    expect([before, limits.mock.calls.map(([ms]) => ms)]).toEqual([0, [30_000]]);
  });

  it("breaks off if its stream fails later, and takes the next request if it does not", async () => {
    const { client } = await connected((app) =>
      route(app)
        .get("/whole", ({ response }) => response.stream(Readable.from(["whole"]), "text/plain"))
        .get("/broken", ({ response }) => response.stream(failing(), "text/plain")),
    );

    client.socket.write(get("/whole"));
    await client.until("\r\n0\r\n\r\n");
    client.socket.write(get("/broken"));
    await client.closed;

    expect(readResponses(client.received(), ["GET", "GET"]).responses).toMatchObject([
      { status: 200, body: "whole", isComplete: true },
      { status: 200, body: "part", isComplete: false },
    ]);
  });

  it.each(["", "part"])("ends its stream when the client disconnects after %j, which is not an error", async (sent) => {
    const stream = new PassThrough();
    const log = logCatcher();
    let isCalled = false;
    const { app, client } = await connected(
      (app) =>
        route(app).get("/", ({ response }) => {
          isCalled = true;
          return response.stream(stream, "text/plain");
        }),
      { logger: log },
    );

    client.socket.write(get("/"));
    await expect.poll(() => isCalled).toBe(true);
    if (sent !== "") stream.write(sent);
    await client.until(sent);
    client.socket.destroy();

    await expect.poll(() => stream.destroyed).toBe(true);
    await app.close();
    expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it("rejects the injected request with the reason if its stream fails later, and logs it once", async () => {
    const log = logCatcher();
    const app = route(new PorticoApp({ logger: log })).get("/", ({ response }) =>
      response.stream(failing(), "text/plain"),
    );

    await expect(app.inject("/")).rejects.toMatchObject({
      message: "the response was cut off because its stream failed",
      cause: { message: "the stream failed" },
    });

    expect(log.lines.map(({ msg }) => msg)).toEqual(["the stream failed"]);
  });
});
