import type { StandardSchemaV1 } from "@standard-schema/spec";
import { PorticoApp, ValidationFailed } from "portico";
import { logCatcher, type TestResponse, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

const failing = (issues: readonly StandardSchemaV1.Issue[]): StandardSchemaV1 => ({
  "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) },
});

/** The response to a query for which a schema reports these issues. */
const refused = (issues: readonly StandardSchemaV1.Issue[]): Promise<TestResponse> =>
  testClient(new PorticoApp({ logger: false }).get("/", { query: failing(issues) }, () => "fine")).get("/");
const listed = async (issues: readonly StandardSchemaV1.Issue[]): Promise<any[]> =>
  ((await refused(issues)).json() as { errors: any[] }).errors;

describe("the issues of a 422", () => {
  it("name the part of the request, the path and the message", async () => {
    const answer = await refused([
      { message: "is missing", path: ["page", 3, { key: "size" }, { key: 7 }] },
      { message: "is wrong" },
    ]);

    expect([answer.status, answer.json()]).toEqual([
      422,
      {
        type: "about:blank",
        title: "Unprocessable Entity",
        status: 422,
        detail: "The query does not match its schema",
        code: "validation_failed",
        errors: [
          { in: "query", path: ["page", 3, "size", 7], message: "is missing" },
          { in: "query", path: [], message: "is wrong" },
        ],
      },
    ]);
  });

  it("name the path if that is the part", async () => {
    const app = new PorticoApp({ logger: false }).get("/", { path: failing([{ message: "no" }]) }, () => "fine");

    expect((await testClient(app).get("/")).json()).toMatchObject({
      detail: "The path does not match its schema",
      errors: [{ in: "path", path: [], message: "no" }],
    });
  });

  it("have symbols in their path as text", async () => {
    const [issue] = await listed([{ message: "no", path: [Symbol("secret"), { key: Symbol("other") }] }]);

    expect(issue.path).toEqual(["Symbol(secret)", "Symbol(other)"]);
  });

  it("are all listed up to a hundred, and then followed by the number of the others", async () => {
    const many = (count: number): StandardSchemaV1.Issue[] =>
      Array.from({ length: count }, (_, n) => ({ message: `no ${n}`, path: [n] }));
    const [all, more] = [await listed(many(100)), await listed(many(101))];

    expect([all.length, all[99]]).toEqual([100, { in: "query", path: [99], message: "no 99" }]);
    expect([more.length, more[99], more[100]]).toEqual([
      101,
      { in: "query", path: [99], message: "no 99" },
      { in: "query", path: [], message: "1 more issues are not listed" },
    ]);
  });

  it("repeat 1,000 characters of a message, 64 segments of a path, and 200 characters of each", async () => {
    const [whole, short] = await listed([
      { message: "m".repeat(1_000), path: [...Array(63).fill(1_234), "s".repeat(200)] },
      { message: "m".repeat(1_001), path: ["s".repeat(201), ...Array(64).fill("x")] },
    ]);

    expect(whole.message).toBe("m".repeat(1_000));
    expect(whole.path).toEqual([...Array(63).fill(1_234), "s".repeat(200)]);
    expect(short.message).toBe(`${"m".repeat(997)}...`);
    expect(short.path).toEqual([`${"s".repeat(197)}...`, ...Array(63).fill("x")]);
  });

  it("are on the exception, for handlers of it", async () => {
    const seen: unknown[] = [];
    const schemas = { query: failing([{ message: "no", path: ["page"] }]) };
    const app = new PorticoApp({ logger: false }).get("/", schemas, () => "fine");
    app.addExceptionHandler(ValidationFailed, (_request, response, error) => {
      seen.push(error.name, error.message, error.issues);
      return response.status(error.status).empty();
    });

    expect((await testClient(app).get("/")).status).toBe(422);
    expect(seen).toEqual([
      "ValidationFailed",
      "The query does not match its schema",
      [{ in: "query", path: ["page"], message: "no" }],
    ]);
  });
});

describe("a response that does not match its schema", () => {
  it("is a 500, and the log lists each issue with its path", async () => {
    const log = logCatcher();
    const response = failing([
      { message: "is missing", path: ["author", { key: "names" }, 3, Symbol("s")] },
      { message: "is wrong" },
      { message: "is empty", path: [] },
    ]);
    const app = new PorticoApp({ logger: log }).get("/", { response }, () => ({}));

    const answer = await testClient(app).get("/");

    expect([answer.status, answer.json()]).toMatchObject([500, { code: "internal_server_error" }]);
    expect(log.lines).toMatchObject([
      {
        code: "RESPONSE_INVALID",
        msg: "the response does not match its schema: author.names.3.Symbol(s): is missing; is wrong; is empty",
        err: { type: "ResponseInvalid" },
      },
    ]);
  });
});
