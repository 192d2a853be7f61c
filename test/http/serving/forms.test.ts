import { PorticoApp } from "portico";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { graphWarnings } from "../../audit/graph-warnings.ts";

const Order = z.object({
  title: z.string().min(1),
  copies: z.coerce.number().int(),
  tags: z.array(z.string()).default([]),
});
const app = new PorticoApp({ logger: false })
  .post("/orders", { body: Order, forms: true }, ({ body }) => body)
  .post("/json", { body: Order }, ({ body }) => body);

const send = (path: string, body: string, type = "application/x-www-form-urlencoded") =>
  testClient(app).post(path, { headers: { "content-type": type }, body: Buffer.from(body) });

describe("forms", () => {
  it("validates the fields of a form with the schema of the body", async () => {
    const sent = await send("/orders", "title=Emma+%26+co&copies=2&tags=a&tags=b");
    const single = await send("/orders", "title=Emma&copies=2&tags=a");

    expect(sent.json()).toEqual({ title: "Emma & co", copies: 2, tags: ["a", "b"] });
    expect(single.json()).toEqual({ title: "Emma", copies: 2, tags: ["a"] });
  });

  it("lists the problems of an invalid or empty form", async () => {
    const wrong = await send("/orders", "title=&copies=two");
    const empty = await send("/orders", "");

    expect([wrong.status, wrong.json()]).toEqual([
      422,
      expect.objectContaining({
        errors: [
          expect.objectContaining({ in: "body", path: ["title"] }),
          expect.objectContaining({ in: "body", path: ["copies"] }),
        ],
      }),
    ]);
    expect(empty.status).toBe(422);
  });

  it("accepts JSON as well, and no other type", async () => {
    const json = await send("/orders", '{"title":"Emma","copies":2}', "application/json");
    const multipart = await send("/orders", "--x--", "multipart/form-data; boundary=x");

    expect(json.json()).toEqual({ title: "Emma", copies: 2, tags: [] });
    expect(multipart.status).toBe(415);
  });

  it("are off by default", async () => {
    expect((await send("/json", "title=Emma&copies=2")).status).toBe(415);
  });

  it("are described in the OpenAPI document and named by the access report", async () => {
    const document = (await testClient(app).get("/openapi.json")).json() as {
      paths: Record<string, { post: { requestBody: { content: object } } }>;
    };
    const typesOf = (path: string) => Object.keys(document.paths[path]?.post.requestBody.content ?? {});

    expect(typesOf("/orders")).toEqual(["application/json", "application/x-www-form-urlencoded"]);
    expect(typesOf("/json")).toEqual(["application/json"]);
    expect(await graphWarnings(app)).toEqual([
      "POST /orders accepts forms, which pages of other origins can send without a preflight",
    ]);
  });

  it("need a schema", () => {
    expect(() => new PorticoApp().post("/orders", { forms: true }, () => 1)).toThrow(
      "POST /orders.forms requires body: its schema describes the fields",
    );
  });
});
