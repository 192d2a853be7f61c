import { PorticoApp } from "portico";
import { type TestClient, type TestResponse, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const client = (maxBody = 1_000): TestClient =>
  testClient(
    new PorticoApp({ logger: false })
      .post("/json", { maxBody }, ({ request }) => request.json())
      .post("/form", { maxBody }, async ({ request }) => [...(await request.form()).keys()])
      .post("/bytes", { maxBody }, async ({ request }) => (await request.bytes()).length),
  );

const detailOf = (answer: TestResponse): string => (answer.json() as { readonly detail: string }).detail;
async function send(path: string, body: string | Buffer, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const answer = await client().post(path, { body, headers });
  return answer.status === 200 ? answer.json() : [answer.status, detailOf(answer)];
}
const asJson = (type: string, body = "{}"): Promise<unknown> => send("/json", body, { "content-type": type });

describe("a JSON body", () => {
  it("may have 65,536 objects, arrays and keys, and any number of other values; more are 413", async () => {
    const own = client(1_000_000);
    const post = (body: string) => own.post("/json", { body, headers: { "content-type": "application/json" } });

    expect((await post(`[${"{},".repeat(65_534)}{}]`)).status).toBe(200);
    const refused = await post(`[${"{},".repeat(65_535)}{}]`);
    expect([refused.status, detailOf(refused)]).toEqual([413, "The JSON has more than 65536 objects, arrays and keys"]);
    expect((await post(`[${"1,".repeat(400_000)}1]`)).status).toBe(200);
    expect((await post(JSON.stringify(['{[:\\"'.repeat(50_000)]))).status).toBe(200);
  });

  it.each([
    "application/json",
    "APPLICATION/JSON",
    "application/json; charset=utf-8",
    'application/json;charset="UTF-8"',
    "application/json; charset=utf8",
    "application/problem+json",
    "application/vnd.shop.v1+json; q=1",
  ])("may have the type %s", async (type) => {
    expect(await asJson(type)).toEqual({});
  });

  it.each([
    "text/plain",
    "text/json",
    "application/jsonp",
    "xapplication/json",
    "application/json+xml",
    "xapplication/problem+json",
    "application/problem+jsonx",
    "application/+json",
    "text/plain; charset",
  ])("cannot have the type %s", async (type) => {
    const detail = `The body must be application/json, but its Content-Type is ${type}`;
    expect(await asJson(type)).toEqual([415, detail]);
  });

  it("cannot have a type with two slashes, which Fastify rejects without a detail if its hooks are used", async () => {
    expect(await asJson("application/a/b+json")).toMatchObject({ 0: 415 });
  });

  it.each([
    "application/json; charset=latin1",
    "application/json; charset=",
    "application/json; charset=utf-8; charset=latin1",
    "application/json; charset=utf-8; CHARSET=utf-8",
    'application/json; charset="utf-8',
  ])("must be in UTF-8, which %s is not", async (type) => {
    const detail = `The body must be application/json in UTF-8, but its Content-Type is ${type}`;
    expect(await asJson(type)).toEqual([415, detail]);
  });

  it("may have parameters that are malformed but name no charset", async () => {
    expect(await asJson("application/json; version")).toEqual({});
  });

  it("repeats only the first part of a long type", async () => {
    const [, detail] = (await asJson(`text/${"x".repeat(500)}`)) as [number, string];

    expect(detail.length).toBeLessThan(200);
  });

  it.each([["{"], ["\uFEFF{"], [""]])("that is not valid JSON is 400: %j", async (body) => {
    expect(await asJson("application/json", body)).toEqual([400, "The body is not valid JSON"]);
  });

  it("may begin with a byte order mark", async () => {
    expect(await asJson("application/json", '\uFEFF{"a":1}')).toEqual({ a: 1 });
  });

  it("that is not valid UTF-8 is 400", async () => {
    const body = Buffer.from([0x22, 0xff, 0x22]);

    expect(await send("/json", body, { "content-type": "application/json" })).toEqual([
      400,
      "The body is not valid JSON",
    ]);
  });
});

describe("the name of a file in a form", () => {
  const headers = { "content-type": "multipart/form-data; boundary=xx" };
  const named = (name: string): Promise<TestResponse> => {
    const body = `--xx\r\ncontent-disposition: form-data; name="a"; filename="${name}"\r\n\r\n1\r\n--xx--\r\n`;
    const app = new PorticoApp({ logger: false }).post("/names", async ({ request }) =>
      [...(await request.form()).values()].map((value) => (value instanceof File ? value.name : "text")),
    );
    return testClient(app).post("/names", { body, headers });
  };

  it.each([
    ["a.png", "a.png"],
    ["../../etc/passwd", "passwd"],
    ["C:\\temp\\a.png", "a.png"],
    ["..", ""],
    ["naïve 日本.png", "naïve 日本.png"],
  ])("%j is read as %j", async (sent, name) => {
    expect((await named(sent)).json()).toEqual([name]);
  });

  it.each(["a\0.png", "a%0D%0Ab", "\u001b[2J", "a\u202Egnp.exe", "a\u2028b", "x".repeat(256)])(
    "%j is refused",
    async (sent) => {
      expect((await named(sent)).json()).toMatchObject({ status: 400, code: "file_name_invalid" });
    },
  );
});

describe("a form", () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const multipart = { "content-type": "multipart/form-data; boundary=xx" };
  const part = (name: string): string => `--xx\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n1\r\n`;
  const names = Array.from({ length: 1_001 }, (_, index) => `f${index}`);
  const most = 100_000;
  const post = async (body: string, headers: Readonly<Record<string, string>>): Promise<readonly unknown[]> => {
    const answer = await client(most).post("/form", { body, headers });
    return [answer.status, answer.status === 200 ? (answer.json() as unknown[]).length : detailOf(answer)];
  };

  it("cannot have another type", async () => {
    const detail = "The body must be a form, but its Content-Type is application/json";
    expect(await send("/form", "{}", { "content-type": "application/json" })).toEqual([415, detail]);
  });

  it("has at most 1,000 fields", async () => {
    const few = names.slice(1);
    const detail = "The form has more than 1000 fields";

    expect(await post(few.map((name) => `${name}=1`).join("&"), form)).toEqual([200, 1_000]);
    expect(await post(names.map((name) => `${name}=1`).join("&"), form)).toEqual([413, detail]);
    expect(await post(`${few.map(part).join("")}--xx--\r\n`, multipart)).toEqual([200, 1_000]);
    expect(await post(`${names.map(part).join("")}--xx--\r\n`, multipart)).toEqual([413, detail]);
  });

  it("that cannot be parsed is 400", async () => {
    const detail = "The body could not be parsed as the form type in Content-Type";
    expect(await send("/form", "not a part", multipart)).toEqual([400, detail]);
  });
});

describe("any body", () => {
  it.each(["gzip", "br", "identity, gzip"])("cannot be compressed: %s", async (encoding) => {
    expect(await send("/bytes", "abc", { "content-encoding": encoding })).toEqual([
      415,
      `The body must not be compressed, but its Content-Encoding is ${encoding}`,
    ]);
  });

  it("is rejected with the accepted encoding if it is compressed", async () => {
    const answer = await client().post("/bytes", { body: "abc", headers: { "content-encoding": "gzip" } });
    expect(answer.headers["accept-encoding"]).toBe("identity");
  });

  it.each(["identity", "IDENTITY"])("may say that it is not: %s", async (encoding) => {
    expect(await send("/bytes", "abc", { "content-encoding": encoding })).toBe(3);
  });

  it("may be as long as maxBody, and no longer", async () => {
    expect(await send("/bytes", "x".repeat(1_000), {})).toBe(1_000);
    expect(await send("/bytes", "x".repeat(1_001), {})).toEqual([413, "The body is larger than 1000 bytes"]);
  });
});

describe("the issues of a body that does not match its schema", () => {
  async function issuesOf(schema: z.ZodType, body: unknown): Promise<readonly Record<string, any>[]> {
    const app = new PorticoApp({ logger: false }).post("/", { body: schema, maxBody: "1mb" }, () => 1);
    const answer = await testClient(app).post("/", { body });
    expect(answer.status).toBe(422);
    return (answer.json() as { readonly errors: readonly Record<string, any>[] }).errors;
  }

  it("are all listed up to a hundred, and then counted", async () => {
    const words = (count: number): readonly string[] => Array.from({ length: count }, () => "x");

    expect(await issuesOf(z.array(z.number()), words(100))).toHaveLength(100);
    const listed = await issuesOf(z.array(z.number()), words(150));
    expect(listed).toHaveLength(101);
    expect(listed[99]).toMatchObject({ in: "body", path: [99] });
    expect(listed[100]).toEqual({ in: "body", path: [], message: "50 more issues are not listed" });
  });

  it("repeat only a part of long keys and messages", async () => {
    const [issue] = await issuesOf(z.record(z.string(), z.number("m".repeat(5_000))), { ["k".repeat(5_000)]: "x" });

    expect(issue?.["path"][0].length).toBeLessThan(300);
    expect(issue?.["path"][0]).toMatch(/^k{150}/);
    expect(issue?.["message"].length).toBeLessThan(1_100);
    expect(issue?.["message"]).toMatch(/^m{900}/);
  });
});
