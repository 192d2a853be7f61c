import { spawn } from "node:child_process";
import { once } from "node:events";
import { ServerResponse } from "node:http";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { type Gate, HttpException, type PorticoApp, type PorticoAppOptions } from "portico";
import { logCatcher } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { flood, rawConnection } from "../raw-connection.ts";
import { startApp as start } from "../start-app.ts";

const closed: Gate<true> = {
  required: true,
  scopes: [],
  check() {
    throw new HttpException(401, "sign in first");
  },
};

const MIB = 1024 ** 2;

describe("a body that is not read", () => {
  it("is cut off: a 401 to an upload of 64 MiB takes in less than 5 MB and closes", async () => {
    const { port } = await start((app) => app.post("/upload", { auth: closed }, () => "never"));
    const connection = await rawConnection(port);

    connection.socket.write(`POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: ${64 * MIB}\r\n\r\n`);
    const sent = await flood(connection, Buffer.alloc(65_536, "a"), 1_024);
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 401 /);
    expect(connection.received().toLowerCase()).toContain("connection: close");
    expect(sent).toBeLessThan(5 * 1000 ** 2);
  });

  it("does not lose its response: every client receives the rejection while it is still sending", async () => {
    const { port } = await start((app) => app.post("/upload", { auth: closed }, () => "never"));
    // The connections are cut a moment after their responses. That moment is over when all clients have had time to read.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const script = new URL("./fixtures/sending-clients.ts", import.meta.url).pathname;
    const clients = spawn(process.execPath, [script, String(port), "40"], { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: clients.stdout })[Symbol.asyncIterator]();

    const read = await lines.next();
    vi.advanceTimersByTime(250);
    const ended = await lines.next();

    expect(JSON.parse(read.value as string)).toEqual(Array.from({ length: 40 }, () => "HTTP/1.1 401"));
    expect(ended.value).toBe("all connections were closed");
  });

  it("does not delay the gate: the response is sent while the body is still arriving", async () => {
    const { port } = await start((app) => app.post("/upload", { auth: closed }, () => "never"));
    const connection = await rawConnection(port);

    connection.socket.write("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n");

    expect(await connection.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 401 /);
  });

  it("is not requested: a client that waits for 100 Continue receives the rejection instead", async () => {
    const { port } = await start((app) => {
      app.post("/upload", { auth: closed }, () => "never");
      app.post("/open", async ({ request }) => (await request.text()).length);
    });
    const refused = await rawConnection(port);
    const welcome = await rawConnection(port);

    refused.socket.write("POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    welcome.socket.write("POST /open HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    await welcome.until("100 Continue");
    welcome.socket.write("body");

    expect(await refused.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 401 /);
    expect(refused.received()).not.toContain("100 Continue");
    expect(await welcome.until("200 OK")).toContain("100 Continue");
  });

  it("does not break the next request of a client that sent it whole", async () => {
    const { port } = await start((app) => app.post("/upload", { auth: closed }, () => "never").get("/", () => "next"));
    const connection = await rawConnection(port);

    connection.socket.write(
      "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyGET / HTTP/1.1\r\nHost: x\r\n\r\n",
    );

    expect(await connection.until('"next"')).toContain("HTTP/1.1 401");
  });

  it("does not keep its connection half open when the end of the body comes after the response", async () => {
    const { port } = await start((app) => app.post("/upload", { auth: closed }, () => "never"));
    const connection = await rawConnection(port);
    connection.socket.allowHalfOpen = true;
    const broken = once(connection.socket, "error");

    connection.socket.write("POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    await connection.until("HTTP/1.1 401");
    connection.socket.write("0\r\n\r\n");
    const writing = setInterval(() => connection.socket.write("\r\n"), 50);
    const [error] = await broken.finally(() => clearInterval(writing));

    expect((error as NodeJS.ErrnoException).code).toMatch(/^(?:EPIPE|ECONNRESET)$/);
  });
});

describe("a handler that stops reading request.stream", () => {
  const limited = (app: PorticoApp): unknown =>
    app.post("/upload", async ({ request }) => {
      let length = 0;
      for await (const chunk of request.stream) {
        length += (chunk as Buffer).length;
        if (length > 10) throw new HttpException(413, `${request.ip} sent too much to ${request.url}`);
      }
      return { length };
    });

  it.each(["Transfer-Encoding: chunked\r\n\r\n64\r\n", "Content-Length: 70000\r\n\r\n", "Content-Length: 200\r\n\r\n"])(
    "gets its response out, and its connection is closed: %j",
    async (head) => {
      const { port } = await start(limited);
      const connection = await rawConnection(port);

      connection.socket.write(`POST /upload HTTP/1.1\r\nHost: x\r\n${head}${"a".repeat(100)}`);
      await connection.closed;

      expect(connection.received()).toMatch(/^HTTP\/1\.1 413 /);
    },
  );

  it("still has the address of the client and the URL", async () => {
    const { port } = await start((app) =>
      app.post("/first", async ({ request }) => {
        for await (const chunk of request.stream) if (chunk.length > 0) break;
        return [request.ip, request.url];
      }),
    );
    const connection = await rawConnection(port);

    connection.socket.write("POST /first HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");

    expect(await connection.until("]")).toContain('["127.0.0.1","http://x/first"]');
  });
});

describe("a body over maxBody", () => {
  it("is 413 by its announced length, before a byte of it", async () => {
    const { port } = await start((app) => app.post("/", ({ request }) => request.text()), { maxBody: 1_000 });
    const connection = await rawConnection(port);

    connection.socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n");

    expect(await connection.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("is 413 in the middle of a chunked one, the rest unread", async () => {
    const { port } = await start((app) => app.post("/", ({ request }) => request.text()), { maxBody: "64kb" });
    const connection = await rawConnection(port);

    connection.socket.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    const chunk = Buffer.concat([Buffer.from("4000\r\n"), Buffer.alloc(0x4000, "a"), Buffer.from("\r\n")]);
    const sent = await flood(connection, chunk, 4_096);
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(sent).toBeLessThan(5 * 1000 ** 2);
  });

  it("leaves the server as it was", async () => {
    const { port, get } = await start((app) => app.post("/", ({ request }) => request.text()).get("/", () => "well"), {
      maxBody: 10,
    });
    const connection = await rawConnection(port);
    connection.socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n");
    await connection.closed;

    const answer = await get("/");

    expect(answer.json()).toBe("well");
  });

  it("is exactly that: a body of maxBody bytes is taken", async () => {
    const { post } = await start((app) => app.post("/", async ({ request }) => (await request.bytes()).length), {
      maxBody: 1_000,
    });

    const [fits, over] = [await post("/", { body: "a".repeat(1_000) }), await post("/", { body: "a".repeat(1_001) })];

    expect([fits.json(), over.status]).toEqual([1_000, 413]);
  });
});

describe("a slow client", () => {
  it("is cut while it sends its headers", async () => {
    const { port } = await start((app) => app.get("/", () => "never"), {
      timeouts: { headersSeconds: 0.3, requestSeconds: 5 },
    });
    const connection = await rawConnection(port);

    connection.socket.write("GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(connection.received()).toContain('"code":"request_timeout"');
  });

  it("is cut while it sends its body, and the waiting handler is notified", async () => {
    const heard: unknown[] = [];
    const { port } = await start(
      (app) =>
        app.post("/", async ({ request }) => {
          await request.text().catch((error: unknown) => heard.push(error));
        }),
      { timeouts: { headersSeconds: 0.3, requestSeconds: 0.5 } },
    );
    const connection = await rawConnection(port);

    connection.socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nslow");
    await connection.closed;
    await expect.poll(() => heard.length).toBe(1);

    expect(connection.received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(heard[0]).toMatchObject({ code: "BODY_INCOMPLETE" });
  });

  it("does not stop the others", async () => {
    const { port, get } = await start((app) => app.get("/", () => "others").post("/", ({ request }) => request.text()));
    const slow = await Promise.all(Array.from({ length: 50 }, () => rawConnection(port)));
    for (const { socket } of slow) socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n");

    const answer = await get("/");

    expect(answer.json()).toBe("others");
    for (const { socket } of slow) socket.destroy();
  });
});

describe("the path", () => {
  it("may hold parameters of 1,000 characters", async () => {
    const { get } = await start((app) => app.get("/books/:cursor", ({ path }) => path.cursor.length));

    const answer = await get(`/books/${"c".repeat(1_000)}`);

    expect(answer.json()).toBe(1_000);
  });

  it.each(["/%ZZ", "/books/%E0%A4%A", "/%"])("%s is malformed percent-encoding and 400", async (path) => {
    const { get } = await start((app) => app.get("/books/:id", () => "never"));

    const answer = await get(path);

    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ code: "malformed_url" });
  });

  it("with the wrong method is 405 and says which there are", async () => {
    const { request } = await start((app) =>
      app
        .get("/books", () => [])
        .post("/books", () => [])
        .get("/books/:id", () => []),
    );

    const answers = [await request("DELETE", "/books"), await request("PATCH", "/books/1")];

    expect(answers.map(({ status, headers }) => [status, headers["allow"]])).toEqual([
      [405, "GET, POST, HEAD"],
      [405, "GET, HEAD"],
    ]);
  });

  it("with TRACE is 405, and none of the request is sent back", async () => {
    const { port } = await start((app) => app.get("/books", () => []));
    const connection = await rawConnection(port);

    connection.socket.write("TRACE /books HTTP/1.1\r\nHost: x\r\nCookie: session=secret\r\nConnection: close\r\n\r\n");
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 405 /);
    expect(connection.received()).not.toContain("secret");
  });
});

describe("a malformed request", () => {
  it("is 400 as a problem, and the connection is closed", async () => {
    const { port } = await start((app) => app.get("/", () => "never"));
    const connection = await rawConnection(port);

    connection.socket.write("HELLO\r\n\r\n");
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 400 /);
    expect(connection.received()).toContain("application/problem+json");
  });

  it("is 431 when its headers are too large", async () => {
    const { port } = await start((app) => app.get("/", () => "never"));
    const connection = await rawConnection(port);

    connection.socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${"a".repeat(20_000)}\r\n\r\n`);
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 431 /);
  });

  it("is rejected if it declares two lengths: nothing is smuggled", async () => {
    const { port } = await start((app) => app.post("/", ({ request }) => request.text()));
    const connection = await rawConnection(port);

    connection.socket.write(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    );
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 400 /);
  });
});

/** A connection that is waited for stays open for longer than any test runs. */
const PATIENT_SHUTDOWN: PorticoAppOptions = {
  timeouts: { keepAliveSeconds: 3_600 },
  shutdown: { deadlineSeconds: 3_600 },
};

describe("close()", () => {
  it("ends with the request in flight on a kept-alive connection", async () => {
    const [entered, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { port, close } = await start(
      (app) =>
        app.get("/slow", async () => {
          entered.resolve();
          await release.promise;
          return "done";
        }),
      PATIENT_SHUTDOWN,
    );
    const connection = await rawConnection(port);
    connection.socket.write("GET /slow HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n");
    await entered.promise;

    const closing = close();
    release.resolve();
    await closing;
    await connection.closed;

    expect(connection.received()).toContain('"done"');
    expect(connection.received().toLowerCase()).toContain("connection: close");
  });

  it("does not wait for idle connections", async () => {
    const { port, close } = await start((app) => app.get("/", () => "here"), PATIENT_SHUTDOWN);
    const connection = await rawConnection(port);
    connection.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await connection.until('"here"');

    await close();
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

it("every response has x-content-type-options once, even if a plugin sets it too", async () => {
  const { port, ...live } = await start((app) =>
    app
      .get("/json", () => ({ any: "value" }))
      .get("/nothing", () => {})
      .get("/stream", ({ response }) => response.stream(Readable.from(["<script>"]), "text/plain"))
      .get("/redirect", ({ response }) => response.redirect("/json"))
      .get("/broken", () => {
        throw new Error("no");
      })
      .get("/own", ({ response }) => response.header("X-Content-Type-Options", "nosniff").text("<b>")),
  );

  for (const path of ["/json", "/nothing", "/stream", "/redirect", "/broken", "/own", "/none", "/%zz", "/livez"])
    expect([path, (await live.get(path)).headers["x-content-type-options"]]).toEqual([path, "nosniff"]);

  const connection = await rawConnection(port);
  connection.socket.write("this is no HTTP\r\n\r\n");
  await connection.closed;
  expect(connection.received()).toContain("x-content-type-options: nosniff\r\n");
});

describe("a response that cannot be sent", () => {
  it("costs its connection, and nothing else", async () => {
    const log = logCatcher();
    const { port, get } = await start((app) => app.get("/", async () => "fine"), { logger: log });
    const connection = await rawConnection(port);
    const broken = vi.spyOn(ServerResponse.prototype, "writeHead").mockImplementation(() => {
      throw new Error("no head");
    });

    connection.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await connection.closed;
    broken.mockRestore();

    expect(connection.received()).toBe("");
    expect(JSON.stringify(log.lines)).toContain("no head");
    expect((await get("/")).status).toBe(200);
  });
});
