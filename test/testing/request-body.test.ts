import { PorticoApp } from "portico";
import { expect } from "vitest";
import { overBoth } from "../matrix.ts";

const echo = (): PorticoApp =>
  new PorticoApp({ logger: false }).post("/echo", async ({ request, response }) =>
    response.json({ type: request.headers["content-type"] ?? null, body: await request.text() }),
  );

const stream = (text: string): ReadableStream<Uint8Array> => new Blob([text]).stream();

const bodies: readonly (readonly [string, () => unknown, string | null, string])[] = [
  ["a string", () => "hello", null, "hello"],
  ["bytes", () => new Uint8Array([104, 105]), null, "hi"],
  ["a buffer", () => new Uint8Array([104, 105]).buffer, null, "hi"],
  ["a stream", () => stream("hello"), null, "hello"],
  ["a blob", () => new Blob(["a,b"], { type: "text/csv" }), "text/csv", "a,b"],
  ["a blob that does not say what it is", () => new Blob(["a,b"]), null, "a,b"],
  [
    "search parameters",
    () => new URLSearchParams({ q: "a b" }),
    "application/x-www-form-urlencoded;charset=UTF-8",
    "q=a+b",
  ],
  ["an object", () => ({ a: [1] }), "application/json", '{"a":[1]}'],
  ["null", () => null, "application/json", "null"],
];

for (const [name, body, type, text] of bodies)
  overBoth(`sends ${name} as what it is`, echo, async (client) => {
    expect((await client.post("/echo", { body: body() })).json()).toEqual({ type, body: text });
  });

overBoth("sends a form with its files, and with the boundary in its type", echo, async (client) => {
  const form = new FormData();
  form.append("title", "Emma");
  form.append("cover", new File(["\u{89}PNG"], "emma.png", { type: "image/png" }));

  const { type, body } = (await client.post("/echo", { body: form })).json() as { type: string; body: string };

  const read = await new Response(body, { headers: { "content-type": type } }).formData();
  expect(type).toMatch(/^multipart\/form-data; boundary=/);
  expect(read.get("title")).toBe("Emma");
  expect(read.get("cover")).toMatchObject({ name: "emma.png", type: "image/png", size: 5 });
});

overBoth("takes the type that the test gives, however its name is written", echo, async (client) => {
  const typeOf = async (body: unknown): Promise<unknown> =>
    (await client.post("/echo", { headers: { "Content-Type": "text/x-own" }, body })).json();

  expect(await typeOf({ a: 1 })).toEqual({ type: "text/x-own", body: '{"a":1}' });
  expect(await typeOf(new URLSearchParams("a=1"))).toEqual({ type: "text/x-own", body: "a=1" });
});
