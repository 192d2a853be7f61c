import { createServer } from "node:http";
import { createClient, PorticoClientError } from "portico-client";
import { describe, expect, it, onTestFinished } from "vitest";
import { clientServer } from "./client-server.ts";

const failure = (work: Promise<unknown>): Promise<PorticoClientError> =>
  work.then(
    () => expect.unreachable("the request did not fail"),
    (error: unknown) => error as PorticoClientError,
  );

describe("a REST request", () => {
  it("fills the path, sends the body as JSON, and returns the body of the response", async () => {
    const client = createClient({ url: `${(await clientServer()).url}/` });

    expect(await client.get("/books/{id}", { path: { id: "book-003" } })).toEqual({ id: "book-003", title: "Title 3" });
    expect(await client.get("/books/{id}", { path: { id: "a/b?c" } })).toEqual({ id: "", title: "" });
    expect(await client.post("/echo", { body: { text: "hello" } })).toEqual({ text: "hello" });
    expect(await client.put("/nothing")).toBeUndefined();
    expect(await client.get("/query")).toBe("");
  });

  it.each([
    ["..", ".."],
    [".", "."],
    ["", ""],
    ["half a character", "\ud800"],
    ["nothing", undefined as unknown as string],
    ["an object", {} as unknown as string],
  ])("is not sent if a path parameter is %s, because it would go to another path", async (_what, id) => {
    const seen: string[] = [];
    const fetch = async (url: string): Promise<Response> => {
      seen.push(url);
      return Response.json({});
    };
    const client = createClient({ url: "http://shop.example", fetch });

    const failed = client.delete("/orders/{id}/items/{item}", { path: { id, item: 1 } });

    await expect(failed).rejects.toThrow(TypeError);
    await expect(failed).rejects.toThrow("/orders/{id}/items/{item}");
    expect(seen).toEqual([]);
  });

  it("is not sent if its path parameters together are two dots", async () => {
    const client = createClient({ url: "http://shop.example", fetch: () => expect.unreachable("it was sent") });

    await expect(client.get("/files/{name}{end}", { path: { name: ".", end: "." } })).rejects.toThrow('a segment ".."');
    await expect(client.get("/files/.{name}", { path: { name: "." } })).rejects.toThrow('a segment ".."');
  });

  it("may have dots in its path parameters, and numbers", async () => {
    const seen: string[] = [];
    const fetch = async (url: string): Promise<Response> => {
      seen.push(url);
      return Response.json({});
    };
    const client = createClient({ url: "http://shop.example", fetch });

    await client.get("/files/{name}.{type}/{version}", { path: { name: "...", type: "txt", version: 0 } });

    expect(seen).toEqual(["http://shop.example/files/....txt/0"]);
  });

  it("repeats a parameter for an array, and joins the values of sort and of in filters", async () => {
    const client = createClient({ url: (await clientServer()).url });

    const query = { tag: ["a", "b"], sort: ["-price", "title"], "genre.in": ["x", "y"], none: undefined, nil: null };

    expect(await client.get("/query", { query })).toBe("tag=a&tag=b&sort=-price%2Ctitle&genre.in=x%2Cy");
  });

  it("sends its own headers and those of the client", async () => {
    const { url } = await clientServer();
    let calls = 0;
    const seen: unknown[] = [];
    const client = createClient({
      url,
      headers: async () => ({ "x-call": String(++calls) }),
      fetch: (address, init) => {
        seen.push(init.headers);
        return fetch(address, init);
      },
    });

    await client.get("/query");
    await client.get("/query", { headers: { "x-own": "yes" } });

    expect(seen).toMatchObject([{ "x-call": "1" }, { "x-call": "2", "x-own": "yes" }]);
  });
});

describe("a failed request", () => {
  it("has the code in upper case, the status and the detail", async () => {
    const client = createClient({ url: (await clientServer()).url });

    const error = await failure(client.get("/taken"));

    expect(error).toBeInstanceOf(PorticoClientError);
    expect(error).toMatchObject({ code: "TITLE_TAKEN", status: 409, detail: "The title is taken" });
  });

  it("names the parameter, and lists the issues of a validation", async () => {
    const client = createClient({ url: (await clientServer()).url });

    const [page, body] = [
      await failure(client.get("/books", { query: { page_size: "many" } })),
      await failure(client.post("/echo", { body: { text: 5 } })),
    ];

    expect(page).toMatchObject({ code: "INVALID_PAGE_SIZE", status: 400, parameter: "page_size" });
    expect(body).toMatchObject({ code: "VALIDATION_FAILED", status: 422, errors: [{ in: "body", path: ["text"] }] });
  });

  it("has the seconds of Retry-After, as a number and as a date", async () => {
    const headers = ["7", new Date(Date.now() + 60_000).toUTCString()];
    const server = createServer((_, response) =>
      response
        .writeHead(503, { "retry-after": headers.shift(), "content-type": "application/problem+json" })
        .end(JSON.stringify({ code: "overloaded", detail: "Busy" })),
    );
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const client = createClient({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}` });

    const [number, date] = [await failure(client.get("/")), await failure(client.get("/"))];

    expect(number).toMatchObject({ code: "OVERLOADED", status: 503, retryAfter: 7 });
    expect(date.retryAfter).toBeGreaterThan(50);
    expect(date.retryAfter).toBeLessThanOrEqual(60);
  });

  it("has the code UNEXPECTED_RESPONSE if a proxy responded, and NETWORK_ERROR if nothing did", async () => {
    const server = createServer((_, response) => response.writeHead(502).end("<h1>Bad gateway</h1>"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const client = createClient({ url: `http://127.0.0.1:${(server.address() as { port: number }).port}` });

    const proxy = await failure(client.get("/"));
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    const nothing = await failure(client.get("/"));

    expect(proxy).toMatchObject({ code: "UNEXPECTED_RESPONSE", status: 502 });
    expect(nothing).toMatchObject({ code: "NETWORK_ERROR", status: 0, cause: expect.any(TypeError) });
  });

  it("rejects with the reason of its signal if it was aborted", async () => {
    const client = createClient({ url: (await clientServer()).url });
    const controller = new AbortController();

    const late = client.get("/slow", { signal: controller.signal });
    controller.abort(new Error("closed the page"));

    await expect(late).rejects.toThrow("closed the page");
    await expect(client.get("/query", { signal: controller.signal })).rejects.toThrow("closed the page");
  });
});
