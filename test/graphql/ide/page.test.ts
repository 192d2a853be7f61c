import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { runInNewContext } from "node:vm";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { ConfigurationError, type Gate, HttpException, PorticoApp } from "portico";
import { field, Graph, type GraphOptions, IDE, schema, subscription, t } from "portico/graphql";
import { liveClient, type TestResponse } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { rawConnection } from "../../http/raw-connection.ts";
import { overBoth } from "../../matrix.ts";
import { fixtureSchema } from "../endpoint/fixture.ts";
import { CONTENT_TYPE, form, json, map } from "../uploads/multipart-form.ts";

/** As browsers send it. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const visit = { headers: { accept: BROWSER } };

it("keeps one copy of the explorer for a client that requests it a hundred times and reads nothing", async () => {
  const client = await open({ ide: true });
  await client.get("/graphql", visit);
  const before = process.memoryUsage().arrayBuffers;
  const { socket } = await rawConnection(client.port);
  socket.pause();

  socket.write(`GET /graphql HTTP/1.1\r\nHost: localhost\r\nAccept: ${BROWSER}\r\n\r\n`.repeat(100));
  await sleep(1_000);

  expect((process.memoryUsage().arrayBuffers - before) / 1e6).toBeLessThan(40);
  socket.destroy();
});

describe("where the page is served", () => {
  overBoth(
    "[IDE-01] [GRA-03] `ide: true` answers a browser with the explorer",
    () => serving({ ide: true }),
    async ({ get }) => {
      const answer = await get("/graphql", visit);

      expect(answer.status).toBe(200);
      expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
      expect(pageOf(answer)).toContain("startExplorer()");
      expect(optionsOf(answer)).toMatchObject({ title: "GraphiQL", query: null });
    },
  );

  overBoth(
    "[IDE-04] without `ide` there is no page",
    () => serving({}),
    async ({ get }) => expect(verdictOf(await get("/graphql", visit))).toEqual([400, "no page"]),
  );

  it.each([
    ["false", false],
    ["an IDE", new IDE({ enabled: false })],
    ["a plain object", { enabled: false, assets: "cdn" }],
  ] as const)("[IDE-03] switched off by %s there is no page", async (_name, ide) => {
    const client = await open({ ide });

    expect(verdictOf(await client.get("/graphql", visit))).toEqual([400, "no page"]);
  });

  it.each([
    ["true", true],
    ["an IDE", new IDE()],
    ["a plain object", {}],
  ] as const)("[GRA-03] [GRA-08] `ide` takes %s", async (_name, ide) => {
    const client = await open({ ide });

    expect(pageOf(await client.get("/graphql", visit))).toContain("startExplorer()");
  });

  it("[GRA-08] an IDE and a plain object with its options serve the same page", async () => {
    const options = { title: "Books", query: "{ hello }", assets: "cdn" } as const;
    const [made, plain] = [await open({ ide: new IDE(options) }), await open({ ide: options })];

    expect(pageOf(await made.get("/graphql", visit))).toBe(pageOf(await plain.get("/graphql", visit)));
  });

  it.each([
    [{ enabled: "yes" }, "IDE.enabled must be true or false"],
    [{ assets: "cloud" }, 'IDE.assets must be "bundled" or "cdn"'],
    [{ title: "" }, "IDE.title must be a non-empty string"],
    [{ asets: "cdn" }, 'IDE: unknown option "asets". Did you mean "assets"?'],
  ])("[GRA-08] refuses %j", (ide, message) => {
    expect(() => new Graph(fixtureSchema(), { ide } as GraphOptions)).toThrow(ConfigurationError);
    expect(() => new Graph(fixtureSchema(), { ide } as GraphOptions)).toThrow(message);
  });

  it.each(["on", 1, null])("refuses `ide: %j`", (ide) => {
    expect(() => new Graph(fixtureSchema(), { ide } as unknown as GraphOptions)).toThrow(
      "Graph.ide must be an IDE, or an object with its options, or true or false",
    );
  });

  it.each([
    ["nothing", undefined],
    ["anything", "*/*"],
    ["JSON first", "application/json, text/html;q=0.5"],
    ["GraphQL's type first", "application/graphql-response+json, text/html;q=0.9"],
    ["no HTML at all", "text/html;q=0, */*"],
  ])("is not for a GET that asks for %s", async (_name, accept) => {
    const client = await open({ ide: true });

    expect(verdictOf(await client.get("/graphql", accept === undefined ? {} : { headers: { accept } }))).toEqual([
      400,
      "no page",
    ]);
  });

  it("is not served to a POST", async () => {
    const client = await open({ ide: true });

    const answer = await client.post("/graphql", { ...visit, body: { query: "{ hello }" } });

    expect(answer.headers["content-type"]).not.toContain("html");
  });

  it("handles HEAD like GET, without the page", async () => {
    const client = await open({ ide: true });

    const answer = await client.request("HEAD", "/graphql", visit);

    expect([answer.status, answer.bytes().length]).toEqual([200, 0]);
    expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
  });

  it("is behind the gate of the endpoint", async () => {
    const refuse: Gate<true> = {
      required: true,
      scopes: ["jwt"],
      check: () => {
        throw new HttpException(401, "Sign in first", { code: "UNAUTHENTICATED" });
      },
    };
    const client = await open({ ide: true, auth: refuse });

    expect(verdictOf(await client.get("/graphql", visit))).toEqual([401, "no page"]);
  });
});

describe("a GET with a query", () => {
  it.each([
    ["on", true],
    ["off", false],
  ])("[IDE-08] [EPT-37] [graphql:A29] is executed as JSON for a browser, the IDE being %s", async (_name, ide) => {
    const client = await open({ ide });

    for (const accept of ["text/html", "text/html,*/*;q=0.8", BROWSER]) {
      const answer = await client.get("/graphql", { headers: { accept }, query: { query: "{ hello }" } });

      expect(answer.status).toBe(200);
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
      expect(answer.json()).toMatchObject({ data: { hello: "world" } });
    }
  });

  it("[graphql:J9] that is HTML is refused as JSON that is not sniffed, and the page runs no script but its own", async () => {
    const client = await open({ ide: true });

    const answer = await client.get("/graphql", { ...visit, query: { query: "</script><script>alert(1)</script>" } });
    const page = await client.get("/graphql", visit);

    expect(answer.status).toBe(400);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    const hashes = scriptsOf(pageOf(page)).map((script) => `'sha256-${sha256(script)}'`);
    expect(hashes.length).toBe(2);
    expect(policyOf(page)).toContain(`script-src ${hashes.join(" ")}`);
  });

  it.each(["documentId=x", "extensions=%7B%7D", "query="])("also one with only %s", async (query) => {
    const client = await open({ ide: true });

    expect(verdictOf(await client.get(`/graphql?${query}`, visit))).toEqual([400, "no page"]);
  });

  it("other parameters do not change the page", async () => {
    const client = await open({ ide: true });

    expect((await client.get("/graphql?from=mail", visit)).headers["content-type"]).toContain("text/html");
  });

  it("[graphql:A29] stays rejected if queries must not use GET, and the page is still served", async () => {
    const client = await open({ ide: true, transport: { getQueries: false } });

    const query = await client.get("/graphql", { ...visit, query: { query: "{ hello }" } });
    const put = await client.put("/graphql", { body: {} });

    expect([query.status, query.headers["allow"]]).toEqual([405, "POST"]);
    expect([put.status, put.headers["allow"]]).toEqual([405, "GET, POST"]);
    expect((await client.get("/graphql", visit)).status).toBe(200);
  });
});

describe("the page", () => {
  overBoth(
    "[EPT-36] [graphql:D15] opens from a link on another site",
    () => serving({ ide: true }),
    async ({ get }) => {
      const answer = await get("/graphql", { headers: { accept: BROWSER, "sec-fetch-site": "cross-site" } });

      expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    },
  );

  it("[graphql:D13] cannot be framed, and may load nothing from elsewhere", async () => {
    const client = await open({ ide: true });

    const answer = await client.get("/graphql", visit);

    expect(policyOf(answer)).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "connect-src 'self'",
        "worker-src blob:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ]),
    );
    expect(policyOf(answer).join("; ")).not.toMatch(/unsafe-eval|https?:|script-src[^;]*unsafe/);
    expect(answer.headers).toMatchObject({ "x-content-type-options": "nosniff", "x-frame-options": "DENY" });
  });

  it("[IDE-05] is one document that refers to no other file", async () => {
    const client = await open({ ide: true });

    const page = pageOf(await client.get("/graphql", visit));
    const markup = page.replaceAll(/<(script|style)\b([^>]*)>[\s\S]*?<\/\1>/g, "<$1$2>");

    expect(markup.length).toBeLessThan(2_000);
    expect(markup).not.toMatch(/src=|@import/);
    expect([...markup.matchAll(/href="([^"]*)"/g)].map(([, address]) => address)).toEqual(["data:,"]);
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? "";
    expect(style.length).toBeGreaterThan(100_000);
    expect([...style.matchAll(/url\(\s*["']?(?!data:|#)([^)]{0,80})/g)].map(([, address]) => address)).toEqual([]);
    expect(style).not.toContain("@import");
  });

  it("is the same page in every encoding", async () => {
    const client = await open({ ide: { query: `# ${"ä".repeat(70_000)}\n` } });
    const fetchAs = (encoding: string): Promise<TestResponse> =>
      client.get("/graphql", { headers: { accept: BROWSER, "accept-encoding": encoding } });

    const [br, gzip, plain] = [await fetchAs("gzip, br"), await fetchAs("gzip, br;q=0"), await fetchAs("identity")];

    expect([br, gzip, plain].map(({ headers }) => headers["content-encoding"])).toEqual(["br", "gzip", undefined]);
    expect(new Set([br, gzip, plain].map(({ headers }) => headers["etag"])).size).toBe(3);
    expect(br.headers["content-length"]).toBe(String(br.bytes().length));
    const text = plain.text();
    expect(text.startsWith("<!doctype html>")).toBe(true);
    expect(text.endsWith("</html>\n")).toBe(true);
    expect(brotliDecompressSync(br.bytes()).toString()).toBe(text);
    expect(gunzipSync(gzip.bytes()).toString()).toBe(text);
    expect(plain.headers["vary"]).toBe("Accept, Accept-Encoding");
  });

  it("is not sent again to a client that has it, unless an option has changed", async () => {
    const [before, after] = [await open({ ide: true }), await open({ ide: { title: "Books" } })];
    const etag = String((await before.get("/graphql", visit)).headers["etag"]);
    const again = { headers: { accept: BROWSER, "if-none-match": etag } };

    const same = await before.get("/graphql", again);

    expect([same.status, same.bytes().length, same.headers["etag"]]).toEqual([304, 0, etag]);
    expect((await after.get("/graphql", again)).status).toBe(200);
  });

  it.each(["bundled", "cdn"] as const)("[graphql:J8] (%s) escapes the values of its options", async (assets) => {
    const [title, query] = ["</title></script><script>alert(1)</script>", "<!--<script>\u2028\u2029&lt;"];
    const client = await open({ ide: { title, query, assets } });

    const answer = await client.get("/graphql", visit);

    const block = /<script type="application\/json" id="options">(.*?)<\/script>/.exec(pageOf(answer))?.[1] ?? "";
    expect(block).not.toMatch(/[<>&\u2028\u2029]/);
    expect(JSON.parse(block)).toMatchObject({ title, query });
  });
});

describe("the socket of subscriptions", () => {
  const query = { hello: field(t.string)(() => "world") };
  const tick = subscription(t.int)(async function* () {
    yield 1;
  });

  it.each([
    ["/graphql", "/graphql"],
    ["/api/graph", "/api/graph"],
    ["/graphql", "/graphql/?from=mail"],
  ] as const)("[IDE-09] mounted at %s is offered by the page at %s", async (path, url) => {
    const client = await open({ ide: true, path }, schema({ query, subscription: { tick } }));

    expect(optionsOf(await client.get(url, visit))).toMatchObject({ hasSocket: true });
  });

  it("is offered by the same page, however the client spells its address", async () => {
    const client = await open({ ide: true }, schema({ query, subscription: { tick } }));
    const spellings = ["/graphql", "/graphql/", "/%67raphql", "/g%72aph%71l", "/graphql?from=mail"];

    const pages = await Promise.all(spellings.map((url) => client.get(url, visit)));

    expect(pages.map(({ status }) => status)).toEqual(spellings.map(() => 200));
    expect(new Set(pages.map(({ headers }) => headers["etag"])).size).toBe(1);
  });

  it("[IDE-09] is not offered if it is disabled", async () => {
    const client = await open({ ide: true }, schema({ query }));

    expect(optionsOf(await client.get("/graphql", visit))).toMatchObject({ hasSocket: false });
  });
});

describe("the switches of an endpoint", () => {
  /** The visible effect of each of the four. */
  async function seen(options: GraphOptions): Promise<Readonly<Record<string, boolean>>> {
    const client = await open(options);
    const body = form([json("operations", { query: "{ hello }" }), map({})]);
    const upload = await client.post("/graphql", { headers: { "content-type": CONTENT_TYPE }, body });
    const get = await client.get("/graphql", { query: { query: "{ hello }" } });
    const page = await client.get("/graphql", visit);
    const post = await client.post("/graphql", { body: { query: "{ hello }" } });
    return {
      uploads: upload.status !== 415,
      getQueries: get.status === 200,
      ide: page.headers["content-type"] === "text/html; charset=utf-8",
      cost: post.text().includes('"cost"'),
    };
  }
  const usual = { uploads: false, getQueries: true, ide: false, cost: true };

  it.each([
    [{}, {}],
    [{ uploads: { enabled: true } }, { uploads: true }],
    [{ transport: { getQueries: false } }, { getQueries: false }],
    [{ ide: true }, { ide: true }],
    [{ limits: { cost: null } }, { cost: false }],
  ])("[LIM-03] %j changes only its own behaviour", async (options, changed) => {
    expect(await seen(options)).toEqual({ ...usual, ...changed });
  });
});

describe("the page with assets from a CDN", () => {
  it("[IDE-02] loads pinned versions, each with its hash, and its policy lets nothing else in", async () => {
    const client = await open({ ide: new IDE({ enabled: true, assets: "cdn" }) });

    const answer = await client.get("/graphql", visit);

    const page = pageOf(answer);
    const tags = [...page.matchAll(/<(?:script|link)\b[^>]*(?:src|href)="https:[^>]*>/g)].map(([tag]) => tag);
    expect(tags.length).toBe(4);
    for (const tag of tags) {
      expect(tag).toMatch(/="https:\/\/cdn\.jsdelivr\.net\/npm\/[a-z-]+@\d+\.\d+\.\d+\/[^"]+"/);
      expect(tag).toMatch(/integrity="sha384-[A-Za-z0-9+/]{64}" crossorigin="anonymous"/);
      expect(policyOf(answer).join()).toContain(/="(https:[^"]+)"/.exec(tag)?.[1]);
    }
    const own = scriptsOf(page).filter((script) => script !== "");
    expect(
      own.map((script) =>
        policyOf(answer)
          .join()
          .includes(`'sha256-${sha256(script)}'`),
      ),
    ).toEqual([true]);
    expect(Buffer.byteLength(page)).toBeLessThan(4_000);
  });

  it("[IDE-02] has no script or style sheet of its own server, and starts GraphiQL with its own address", async () => {
    const client = await open({ ide: new IDE({ enabled: true, assets: "cdn" }) });

    const answer = await client.get("/graphql", visit);

    const page = pageOf(answer);
    const sources = [...page.matchAll(/<script\b[^>]*\bsrc="([^"]*)"/g)].map(([, source]) => source);
    const sheets = [...page.matchAll(/<link rel="stylesheet" href="([^"]*)"/g)].map(([, source]) => source);
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(sources.map(nameOnCdn)).toEqual(["react", "react-dom", "graphiql"]);
    expect(sheets.map(nameOnCdn)).toEqual(["graphiql"]);
    expect(runStartOf(page)).toEqual({ place: "explorer", url: "https://shop.test/graphql", title: "GraphiQL" });
  });
});

/** The package that a URL of the CDN names, if it names a complete version. */
const nameOnCdn = (url: string | undefined): string | undefined =>
  /^https:\/\/cdn\.jsdelivr\.net\/npm\/([a-z-]+)@\d+\.\d+\.\d+\/[^"]+$/.exec(url ?? "")?.[1];

/** Runs the page's own script with stand-ins for the browser and for the files of the CDN. */
function runStartOf(page: string): unknown {
  const seen: { place?: string; url?: string; title?: string } = {};
  const options = /<script type="application\/json" id="options">(.*?)<\/script>/.exec(page)?.[1];
  const GraphiQL = { createFetcher: ({ url }: { readonly url: string }) => ({ url }) };
  const elements = { options: { id: "options", textContent: options }, explorer: { id: "explorer" } };
  runInNewContext(scriptsOf(page).join("\n"), {
    document: {
      getElementById: (id: keyof typeof elements) => elements[id],
      set title(title: string) {
        seen.title = title;
      },
    },
    location: new URL("https://shop.test/graphql?query=x"),
    GraphiQL,
    React: { createElement: (type: unknown, props: object) => ({ type, props }) },
    ReactDOM: {
      createRoot: ({ id }: { readonly id: string }) => ({
        render({ type, props }: { readonly type: unknown; readonly props: { readonly fetcher: { url: string } } }) {
          if (type === GraphiQL) Object.assign(seen, { place: id, url: props.fetcher.url });
        },
      }),
    },
  });
  return seen;
}

function serving(options: GraphOptions, graph = fixtureSchema()): PorticoApp {
  const app = new PorticoApp({ logger: false });
  new Graph(graph, options).mount(app);
  return app;
}

async function open(options: GraphOptions, graph = fixtureSchema()): ReturnType<typeof liveClient> {
  const client = await liveClient(serving(options, graph));
  onTestFinished(() => client.close());
  return client;
}

/** Status, and whether it is JSON and nothing of a page. */
function verdictOf(answer: TestResponse): readonly unknown[] {
  const isJson = String(answer.headers["content-type"]).includes("json");
  return [answer.status, isJson && !answer.text().includes("<!doctype html>") ? "no page" : "a page"];
}

function pageOf(answer: TestResponse): string {
  const encoding = answer.headers["content-encoding"];
  if (encoding === "br") return brotliDecompressSync(answer.bytes()).toString();
  return encoding === "gzip" ? gunzipSync(answer.bytes()).toString() : answer.text();
}

function optionsOf(answer: TestResponse): unknown {
  return JSON.parse(/<script type="application\/json" id="options">(.*?)<\/script>/.exec(pageOf(answer))?.[1] ?? "");
}

/** The texts of the elements that a browser runs. */
function scriptsOf(page: string): readonly string[] {
  return [...page.matchAll(/<script(?! type)[^>]*>([\s\S]*?)<\/script>/g)].map(([, text]) => text ?? "");
}

function policyOf(answer: TestResponse): readonly string[] {
  return String(answer.headers["content-security-policy"]).split("; ");
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
