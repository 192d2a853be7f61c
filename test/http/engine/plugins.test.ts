import { gunzipSync } from "node:zlib";
import compress from "@fastify/compress";
import cors from "@fastify/cors";
import etag from "@fastify/etag";
import helmet from "@fastify/helmet";
import rateLimit from "@fastify/rate-limit";
import underPressure from "@fastify/under-pressure";
import { Depend, PorticoApp } from "portico";
import { expect, it } from "vitest";
import { z } from "zod";
import { overBoth } from "../../matrix.ts";

/** An app with routes of several kinds, and what `register` registers on its engine. */
const withPlugin = (register: (app: PorticoApp) => unknown): (() => PorticoApp) => {
  return () => {
    const app = new PorticoApp({ logger: false })
      .get("/books", () => ({ titles: Array<string>(500).fill("Emma") }))
      .post("/books", { body: z.object({ title: z.string() }), params: { n: Depend(() => 1) } }, ({ body, n }) => [
        body,
        n,
      ])
      .get("/stream", ({ response }) =>
        response.stream(
          (async function* () {
            yield "x".repeat(5000);
          })(),
          "text/plain",
        ),
      )
      .get("/broken", () => {
        throw new Error("s3cret");
      });
    register(app);
    return app;
  };
};

overBoth(
  "@fastify/cors responds to preflights and marks responses, including errors",
  withPlugin((app) => app.engine.register(cors, { origin: "https://shop.example", methods: ["GET", "POST"] })),
  async (client) => {
    const headers = { origin: "https://shop.example" };
    const preflight = await client.request("OPTIONS", "/books", {
      headers: { ...headers, "access-control-request-method": "POST" },
    });
    const answers = [
      await client.get("/books", { headers }),
      await client.post("/books", { headers, body: { title: 1 } }),
      await client.get("/broken", { headers }),
      await client.get("/nothing", { headers }),
    ];

    expect([preflight.status, preflight.headers["access-control-allow-methods"]]).toEqual([204, "GET, POST"]);
    expect(answers.map(({ status, headers }) => [status, headers["access-control-allow-origin"]])).toEqual(
      [200, 422, 500, 404].map((status) => [status, "https://shop.example"]),
    );
  },
);

overBoth(
  "@fastify/helmet sets its headers on every response, and ours stay",
  withPlugin((app) => app.engine.register(helmet)),
  async (client) => {
    const answers = [
      await client.get("/books"),
      await client.get("/broken"),
      await client.get("/nothing"),
      await client.get("/stream"),
    ];

    for (const { headers } of answers) {
      expect(headers["x-content-type-options"]).toBe("nosniff");
      expect(headers["content-security-policy"]).toContain("default-src 'self'");
    }
    expect(answers[1]?.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  },
);

overBoth(
  "@fastify/compress compresses values and streams for a client that can read it",
  withPlugin((app) => app.engine.register(compress)),
  async (client) => {
    const headers = { "accept-encoding": "gzip" };
    const plain = await client.get("/books");
    const value = await client.get("/books", { headers });
    const stream = await client.get("/stream", { headers });

    expect(plain.headers["content-encoding"]).toBe(undefined);
    expect([value.headers["content-encoding"], stream.headers["content-encoding"]]).toEqual(["gzip", "gzip"]);
    expect(gunzipSync(value.bytes()).toString()).toBe(plain.text());
    expect(gunzipSync(stream.bytes()).toString()).toBe("x".repeat(5000));
  },
);

overBoth(
  "@fastify/etag sends 304 for a tag that the client has, also with weak tags",
  withPlugin((app) => app.engine.register(etag, { weak: true })),
  async (client) => {
    const first = await client.get("/books");
    const tag = String(first.headers["etag"]);
    const same = await client.get("/books", { headers: { "if-none-match": tag } });
    const other = await client.get("/books", { headers: { "if-none-match": 'W/"other"' } });

    expect(tag).toMatch(/^W\/"/);
    expect([first.status, same.status, other.status]).toEqual([200, 304, 200]);
    expect([same.text(), same.headers["etag"]]).toEqual(["", tag]);
  },
);

overBoth(
  "@fastify/under-pressure refuses with 503 and retry-after, as a problem",
  withPlugin((app) =>
    app.engine.register(underPressure, { healthCheck: async () => false, healthCheckInterval: 10_000, retryAfter: 50 }),
  ),
  async (client) => {
    const answer = await client.get("/books");

    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toBe("50");
    expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
  },
);

overBoth(
  "@fastify/rate-limit refuses with 429, its headers and a problem",
  withPlugin((app) => app.engine.register(rateLimit, { max: 2, timeWindow: "1 minute" })),
  async (client) => {
    const answers = [await client.get("/books"), await client.get("/books"), await client.get("/books")];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[0]?.headers).toMatchObject({ "x-ratelimit-limit": "2", "x-ratelimit-remaining": "1" });
    expect(answers[2]?.headers["retry-after"]).toMatch(/^(?:[1-5]\d|60)$/);
    expect(answers[2]?.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
    expect(answers[2]?.json()).toMatchObject({ status: 429, code: "rate_limited" });
  },
);

overBoth(
  "several plugins work together, and a body still reaches its schema",
  withPlugin((app) => {
    app.engine.register(helmet);
    app.engine.register(cors, { origin: true });
    app.engine.register(compress, { threshold: 0 });
    app.engine.register(rateLimit, { max: 100 });
  }),
  async (client) => {
    const answer = await client.post("/books", {
      headers: { origin: "https://a.example", "accept-encoding": "gzip" },
      body: { title: "Emma", extra: 1 },
    });

    expect(JSON.parse(gunzipSync(answer.bytes()).toString())).toEqual([{ title: "Emma" }, 1]);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "https://a.example",
      "x-content-type-options": "nosniff",
      "x-ratelimit-remaining": "99",
    });
  },
);

it("an error of a plugin that does not blame the client is a 500 that says nothing", async () => {
  const app = new PorticoApp({ logger: false }).get("/", () => 1);
  app.engine.addHook("onRequest", async () => {
    throw new Error("s3cret");
  });

  const answer = await app.inject("/");

  expect(answer.status).toBe(500);
  expect(answer.body.toString()).not.toContain("s3cret");
  expect(JSON.parse(answer.body.toString())).toMatchObject({ code: "internal_server_error" });
});

it("a plugin that cannot start keeps the app from starting", async () => {
  const app = new PorticoApp({ logger: false }).get("/", () => 1);
  app.engine.register(async () => {
    throw new Error("no database");
  });

  await expect(app.inject("/")).rejects.toThrow("no database");
});
