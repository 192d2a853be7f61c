import { brotliDecompressSync, gunzipSync } from "node:zlib";
import Fastify from "fastify";
import { ConfigurationError, type InjectResponse, PorticoApp, type PorticoAppOptions } from "portico";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { referenceHtml } from "../../src/openapi/reference-html.ts";
import { isBrowserMissing, visit } from "../browser.ts";

describe("the document's route", () => {
  it("serves the document as JSON, with the server URL", async () => {
    const answer = await bookshop().inject("/openapi.json");

    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(jsonOf(answer)).toMatchObject({ info: { title: "Bookshop" }, servers: [{ url: "/" }] });
  });

  it("includes the prefix under which the application is mounted", async () => {
    const fastify = Fastify();
    await fastify.register(bookshop().plugin(), { prefix: "/shop/api" });
    const behindProxy = bookshop({ publicUrl: "https://shop.example/api" });

    const mounted = (await fastify.inject("/shop/api/openapi.json?x=1")).json<object>();
    const proxied = jsonOf(await behindProxy.inject("/openapi.json"));
    await fastify.close();

    expect(mounted).toMatchObject({ servers: [{ url: "/shop/api" }] });
    expect(proxied).toMatchObject({ servers: [{ url: "/api" }] });
  });

  it("can be moved, served without the page, or disabled", async () => {
    const moved = bookshop({ openapi: { document: "/meta/api.json", page: "/meta/reference" } });
    const alone = bookshop({ openapi: { page: false } });
    const none = bookshop({ openapi: false });

    expect((await moved.inject("/meta/api.json")).status).toBe(200);
    expect((await moved.inject("/meta/reference")).body.toString()).toContain("&quot;./api.json&quot;");
    expect([(await alone.inject("/openapi.json")).status, (await alone.inject("/docs")).status]).toEqual([200, 404]);
    expect([(await none.inject("/openapi.json")).status, (await none.inject("/docs")).status]).toEqual([404, 404]);
  });

  it("must differ from that of the page", async () => {
    const app = bookshop({ openapi: { document: "/docs" } });

    await expect(app.inject("/docs")).rejects.toThrow(ConfigurationError);
  });
});

describe("the page", () => {
  it("is HTML that may not load anything from other origins", async () => {
    const { status, headers, body } = await bookshop().inject("/docs");

    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(headers["x-content-type-options"]).toBe("nosniff");
    const policy = String(headers["content-security-policy"]).split("; ");
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
      ]),
    );
    expect(body.toString()).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it("escapes the title", async () => {
    const { body } = await bookshop({ title: `</title><script>alert("1")</script>` }).inject("/docs");

    expect(body.toString()).not.toContain("<script>alert");
  });

  it.each([
    ["/docs", "./docs/scalar/", "./openapi.json"],
    ["/docs/", "./scalar/", "./../openapi.json"],
  ])("at %s finds its script and its document by relative URLs", async (url, scripts, document) => {
    const page = (await bookshop().inject(url)).body.toString();

    expect(scriptOf(page)).toMatch(new RegExp(`^${scripts.replaceAll(".", "\\.")}[0-9a-f]{16}\\.js$`));
    expect(page).toContain(`&quot;url&quot;:&quot;${document}&quot;`);
  });

  it("can be at the root", async () => {
    const app = bookshop({ openapi: { page: "/" } });

    const script = scriptOf((await app.inject("/")).body.toString());

    expect((await app.inject(new URL(script, "http://host/").pathname)).status).toBe(200);
  });

  it("links to the document if its script is not part of the build", () => {
    const page = referenceHtml({ title: "Bookshop", document: "./openapi.json", script: null });

    expect(page).toContain('<a href="./openapi.json">');
    expect(page).not.toContain("<script");
  });
});

describe("the page's script", () => {
  it("is cached without a limit under a URL that changes with its content", async () => {
    const app = bookshop();
    const url = await scriptUrl(app);

    const [br, gzip, again, plain] = await Promise.all(
      ["br, gzip;q=0.8", "br;q=0, gzip", "gzip", "gzip;q=0, identity"].map((accepted) =>
        app.inject({ url, headers: { "accept-encoding": accepted } }),
      ) as [Answer, Answer, Answer, Answer],
    );

    expect(br.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "content-encoding": "br",
      "content-length": String(br.body.length),
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      "x-content-type-options": "nosniff",
    });
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(new Set([br, gzip, plain].map(({ headers }) => headers["etag"])).size).toBe(3);
    expect(gzip.headers).toMatchObject({
      "content-encoding": "gzip",
      "content-length": String(gzip.body.length),
    });
    expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
    expect(again.body.equals(gzip.body)).toBe(true);
    expect((await app.inject(url.replace(/\w+\.js$/, "0123456789abcdef.js"))).status).toBe(404);
  });

  it("is not sent again to a client that has it", async () => {
    const app = bookshop();
    const url = await scriptUrl(app);
    const etag = String((await app.inject(url)).headers["etag"]);

    const again = await app.inject({ url, headers: { "if-none-match": `"other", W/${etag}` } });

    expect(etag).toMatch(/^"[0-9a-f]{16}"$/);
    expect([again.status, again.body.length, again.headers["etag"]]).toEqual([304, 0, etag]);
  });

  it("responds to HEAD like GET, without the script", async () => {
    const app = bookshop();

    const answer = await app.inject({ method: "HEAD", url: await scriptUrl(app) });

    expect([answer.status, answer.body.length]).toEqual([200, 0]);
  });
});

describe.skipIf(isBrowserMissing)("in a browser, the page", () => {
  it("shows the title and the operations, runs one, and requests nothing from other hosts", async () => {
    const app = bookshop();
    const { url } = await app.listen({ port: 0 });
    onTestFinished(() => app.close());
    const { page, elsewhere, complaints } = await visit(url);

    await page.goto(`${url}/docs`);
    await page.getByRole("heading", { name: "Bookshop" }).waitFor();
    await page.getByRole("heading", { name: "List books" }).waitFor();
    await page
      .getByRole("button", { name: /Test Request/ })
      .first()
      .click();
    const tried = page.waitForResponse(`${url}/books?limit=10`);
    await page.getByRole("button", { name: /^Send/ }).first().click();

    expect(await (await tried).json()).toEqual([{ title: "Emma" }]);
    expect(await page.title()).toContain("Bookshop");
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

function bookshop(options: PorticoAppOptions = {}): PorticoApp {
  const app = new PorticoApp({ title: "Bookshop", logger: false, openapi: true, ...options });
  app.get(
    "/books",
    {
      summary: "List books",
      tags: ["Books"],
      query: z.object({ limit: z.coerce.number().default(10) }),
      response: z.array(z.object({ title: z.string() })),
    },
    () => [{ title: "Emma" }],
  );
  return app;
}

type Answer = Promise<InjectResponse>;

async function scriptUrl(app: PorticoApp): Promise<string> {
  return new URL(scriptOf((await app.inject("/docs")).body.toString()), "http://host/docs").pathname;
}

function scriptOf(page: string): string {
  return /<script src="([^"]+)"/.exec(page)?.[1] ?? "";
}

function jsonOf({ body }: InjectResponse): unknown {
  return JSON.parse(body.toString());
}
