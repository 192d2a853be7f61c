import { Duplex, PassThrough, Readable } from "node:stream";
import { BadRequest, PorticoApp } from "portico";
import { describe, expect, it } from "vitest";
import { ROUTINGS } from "./routings.ts";

/** A response, with its headers in alphabetical order. */
interface Written {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

async function responseTo(app: PorticoApp, method = "GET"): Promise<Written> {
  const { status, headers, body } = await app.inject({ method, url: "/" });
  const { date: _date, ...others } = headers;
  const lines = Object.entries(others).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
  return { status, headers: lines.toSorted(), body: body.toString() };
}

/** Headers together with those of every response, in alphabetical order. */
const besides = (...headers: readonly string[]): readonly string[] =>
  [...headers, "connection: keep-alive", "x-content-type-options: nosniff"].toSorted();
const TEXT = "content-type: text/plain; charset=utf-8";
const COOKIES = [
  "set-cookie: a=1; Path=/; HttpOnly; Secure; SameSite=Lax",
  "set-cookie: b=2; Path=/; HttpOnly; Secure; SameSite=Lax",
];
const PROBLEM = ["content-type: application/problem+json; charset=utf-8", "cache-control: no-store"];

function failing(): Readable {
  return new Readable({
    read() {
      this.destroy(new Error("the stream failed"));
    },
  });
}

describe.each(ROUTINGS)("the response to a request that is routed %s", (_, route) => {
  const empty = (): PorticoApp => route(new PorticoApp({ logger: false, openapi: false }));

  it("has the length of its body in bytes", async () => {
    const app = empty().get("/", () => ({ title: "Émile" }));

    expect(await responseTo(app)).toEqual({
      status: 200,
      headers: besides("content-type: application/json; charset=utf-8", "content-length: 18"),
      body: '{"title":"Émile"}',
    });
  });

  it("has that length even if the handler states another one", async () => {
    const app = empty().get("/", ({ response }) => response.header("content-length", "3").text("longer"));

    expect(await responseTo(app)).toEqual({
      status: 200,
      headers: besides(TEXT, "content-length: 6"),
      body: "longer",
    });
  });

  it("has the headers of GET and no body for HEAD", async () => {
    const app = empty().get("/", ({ response }) => response.html("<p>page</p>"));

    expect(await responseTo(app, "HEAD")).toEqual({
      status: 200,
      headers: besides("content-type: text/html; charset=utf-8", "content-length: 11"),
      body: "",
    });
  });

  it("has the length 0 without a body", async () => {
    const app = empty().get("/", ({ response }) => response.redirect("/books"));

    expect(await responseTo(app)).toEqual({
      status: 303,
      headers: besides("content-length: 0", "location: /books"),
      body: "",
    });
  });

  it.each([204, 304])("has no body, type or length with %d, whatever the handler writes", async (status) => {
    const text = empty().get("/", ({ response }) =>
      response.status(status).header("content-length", "9").header("etag", '"1"').text("lost"),
    );
    const nothing = empty().get("/", ({ response }) => response.status(status).header("etag", '"1"').empty());
    const stream = empty().get("/", ({ response }) =>
      response
        .status(status)
        .header("etag", '"1"')
        .stream(Readable.from(["lost"]), "text/plain"),
    );

    for (const app of [text, nothing, stream])
      expect(await responseTo(app)).toEqual({ status, headers: besides('etag: "1"'), body: "" });
  });

  it.each([204, 304])("ends the stream that %d leaves no room for", async (status) => {
    const stream = new PassThrough();
    const app = empty().get("/", ({ response }) => response.status(status).stream(stream, "text/plain"));

    expect((await responseTo(app)).status).toBe(status);

    await expect.poll(() => stream.destroyed).toBe(true);
  });

  it("has every value of a header, and x-content-type-options as the handler sets it", async () => {
    const app = empty().get("/", ({ response }) =>
      response.cookie("a", "1").cookie("b", "2").header("x-content-type-options", "other").text("x"),
    );

    expect((await responseTo(app)).headers).toEqual(
      ["connection: keep-alive", "content-length: 1", TEXT, ...COOKIES, "x-content-type-options: other"].toSorted(),
    );
  });

  it("closes the connection if the handler says so", async () => {
    const app = empty().get("/", ({ response }) => response.header("connection", "close").text("bye"));

    expect((await responseTo(app)).headers).toEqual([
      "connection: close",
      "content-length: 3",
      TEXT,
      "x-content-type-options: nosniff",
    ]);
  });

  it("is sent in chunks from a stream, with all of its headers", async () => {
    const app = empty().get("/", ({ response }) =>
      response
        .status(206)
        .cookie("a", "1")
        .cookie("b", "2")
        .stream(Readable.from(["one,", "two"]), "text/plain"),
    );

    expect(await responseTo(app)).toEqual({
      status: 206,
      headers: besides("content-type: text/plain", "transfer-encoding: chunked", ...COOKIES),
      body: "one,two",
    });
  });

  it("is an error without the headers of the handler if its stream fails before the first byte", async () => {
    const app = empty().get("/", ({ response }) =>
      response.status(206).header("x-handler", "1").header("etag", '"1"').stream(failing(), "text/plain"),
    );

    const { status, headers, body } = await responseTo(app);

    expect([status, headers]).toEqual([500, besides(...PROBLEM, `content-length: ${body.length}`)]);
    expect(JSON.parse(body)).toMatchObject({ status: 500, code: "internal_server_error" });
  });

  it("is a problem if the handler throws", async () => {
    const app = empty().get("/", () => {
      throw new BadRequest("not like that");
    });

    const { status, headers, body } = await responseTo(app);

    expect([status, headers]).toEqual([400, besides(...PROBLEM, `content-length: ${body.length}`)]);
    expect(JSON.parse(body)).toMatchObject({ detail: "not like that" });
  });
});

// While logs are scanned, every application goes through Fastify, which does this in its own way.
describe.skipIf(process.env["PORTICO_LOG_SCAN"] === "1")("the response to a request that is routed directly", () => {
  const empty = (): PorticoApp => new PorticoApp({ logger: false, openapi: false });

  it("may state to HEAD the length of the body that GET would have", async () => {
    const stating = empty().get("/", ({ response }) => response.status(200).header("content-length", "11").empty());
    const silent = empty().get("/", ({ response }) => response.status(200).empty());

    expect((await responseTo(stating, "HEAD")).headers).toEqual(besides("content-length: 11"));
    expect((await responseTo(silent, "HEAD")).headers).toEqual(besides());
  });

  it("may state with 304 the length of the body that 200 would have", async () => {
    const app = empty().get("/", ({ response }) => response.status(304).header("content-length", "11").empty());

    expect((await responseTo(app)).headers).toEqual(besides("content-length: 11"));
  });

  it("leaves a stream that has ended as it is, such as a connection that can still be written to", async () => {
    const written: string[] = [];
    const duplex = new Duplex({
      read() {
        this.push("read");
        this.push(null);
      },
      write(chunk: Buffer, _encoding, done) {
        written.push(chunk.toString());
        done();
      },
    });
    const app = empty().get("/", ({ response }) => response.stream(duplex, "text/plain"));

    const { body } = await responseTo(app);
    duplex.write("written");

    expect([body, written, duplex.destroyed]).toEqual(["read", ["written"], false]);
  });
});
