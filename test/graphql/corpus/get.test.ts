import type { GraphQLSchema } from "graphql";
import { type HttpContext, type Middleware } from "portico";
import { field, schema, t } from "portico/graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rawConnection } from "../../http/raw-connection.ts";
import { userNamed } from "../ask.ts";
import { type Answer, type Endpoint, Section } from "./harness.ts";
import { requestBytes } from "./wire.ts";

const section = new Section();
let endpoint: Endpoint;
beforeAll(async () => {
  endpoint = await section.serve();
});
afterAll(() => section.close());

describe("C. GET", () => {
  it("[graphql:C1] a mutation is 405, to be sent by POST", async () => {
    const answer = await endpoint.get({ query: "mutation{login}" }, [], { operations: 1 });

    expect([answer.status, answer.headers["allow"], endpoint.ran]).toEqual([405, "POST", {}]);
  });

  it("[graphql:C2] a mutation that operationName picks is 405, the query beside it is not", async () => {
    const query = "query Q{hello} mutation M{login}";

    const mutation = await endpoint.get({ query, operationName: "M" }, [], { operations: 1 });
    expect([mutation.status, mutation.headers["allow"], endpoint.ran]).toEqual([405, "POST", {}]);
    expect(await endpoint.get({ query, operationName: "Q" })).toMatchObject({ status: 200, data: { hello: "world" } });
  });

  it("a subscription with an Accept of JSON is 400 and does not start", async () => {
    const answer = await endpoint.get({ query: "subscription{tick}" }, [["accept", "application/json"]]);

    expect([answer.status, answer.code, endpoint.ran]).toEqual([400, "SUBSCRIPTION_NEEDS_STREAM", {}]);
  });

  it("[graphql:C4] variables that are not JSON are 400", async () => {
    expect((await withParam("variables", "{bad", 0)).status).toBe(400);
  });

  it("[graphql:C5] variables are an object or null", async () => {
    expect((await withParam("variables", "[1]", 0)).status).toBe(400);
    expect((await withParam("variables", '"x"', 0)).status).toBe(400);
    expect(await withParam("variables", "null", 1)).toMatchObject({ status: 200, data: { hello: "world" } });
  });

  it("optional parameters that are empty are like parameters that were left out", async () => {
    const empty = { operationName: "", variables: "", extensions: "", documentId: "" };
    const form = new URLSearchParams({ query: "{hello}", ...empty }).toString();
    const headers = [["content-type", "application/x-www-form-urlencoded"]] as const;

    expect(await endpoint.get({ query: "{hello}", ...empty })).toMatchObject({ status: 200, data: { hello: "world" } });
    expect(await endpoint.ask({ headers, body: form })).toMatchObject({ status: 200, data: { hello: "world" } });
    expect((await endpoint.get({ query: "", ...empty }, [], { operations: 1 })).status).toBe(400);
  });

  it("[graphql:C6] a parameter that is sent twice is 400", async () => {
    const target = "/graphql?query=%7Bhello%7D&query=%7Bboom%7D";

    expect((await endpoint.ask({ method: "GET", target }, { operations: 0 })).status).toBe(400);
    expect(endpoint.ran).toEqual({});
  });

  it("[graphql:C7] extensions that are not JSON are 400", async () => {
    expect((await withParam("extensions", "{bad", 0)).status).toBe(400);
  });

  it("[graphql:C8] a URL of 1 MB is 431", async () => {
    const answer = await endpoint.knock({ method: "GET", target: `/graphql?query={hello}#${"a".repeat(1024 ** 2)}` });

    expect(answer.status).toBe(431);
  });

  it("[graphql:C9] a GET where only POST is accepted is 405", async () => {
    const postOnly = await section.serve({ graph: { transport: { getQueries: false } } });

    const answer = await postOnly.get({ query: "{hello}" }, [], { operations: 0 });
    const head = await postOnly.ask({ method: "HEAD", target: "/graphql?query=%7Bhello%7D" });

    expect([answer.status, answer.headers["allow"], postOnly.ran]).toEqual([405, "POST", {}]);
    expect([head.status, head.headers["allow"], postOnly.ran]).toEqual([405, "POST", {}]);
  });

  it("[graphql:C10] a GET with a body that is not JSON is 415 without a byte of it, with uploads on too", async () => {
    const uploads = await section.serve({ graph: { uploads: { enabled: true } } });
    const multipart = [["content-type", "multipart/form-data; boundary=x"]] as const;

    for (const on of [endpoint, uploads]) {
      on.begin();
      // The body is announced and never sent: a server that reads it would wait.
      const connection = await rawConnection(on.port);
      const headers = [...multipart, ["content-length", "5000"] as const];
      connection.socket.write(requestBytes({ method: "GET", target: "/graphql?query={hello}", headers }));

      expect(await connection.until("UNSUPPORTED_MEDIA_TYPE")).toMatch(/^HTTP\/1\.1 415 /);
      connection.socket.destroy();
      await connection.closed;
      expect([on.ran, on.hooked]).toEqual([{}, []]);
      await on.end();
      expect((await on.get({ query: "{hello}" }, multipart)).status).toBe(415);
      expect((await on.get({ query: "{hello}" }, [["content-type", "application/json"]])).status).toBe(200);
    }
  });

  it("[graphql:C11] only responses that a resolver allows are cached, separately per user if it read one", async () => {
    const app = { middleware: [identify] };
    const cached = await section.serve({ schema: cachingSchema(), graph: app });
    const about = async (query: string, user: string): Promise<string> => {
      const { status, headers } = await cached.get({ query }, [["authorization", user]]);
      return `${status} ${headers["cache-control"]} | ${headers["vary"]}`;
    };

    for (const user of ["ada", "bob"]) {
      expect(await about("{plain}", user)).toBe("200 no-store | Accept");
      expect(await about("{kept}", user)).toBe("200 public, max-age=60 | Accept");
      expect(await about("{mine}", user)).toBe("200 private, max-age=60 | Accept, Authorization, Cookie");
      expect(await about("{gated}", user)).toBe("200 private, max-age=60 | Accept, Authorization, Cookie");
      expect(await about("{kept boom}", user)).toBe("200 no-store | Accept");
      expect(await about("{kept nope}", user)).toBe("400 no-store | Accept");
    }
    expect((await cached.get({ query: "{mine}" }, [["authorization", "ada"]])).data).toEqual({ mine: "ada" });
    expect((await cached.get({ query: "{mine}" }, [["authorization", "bob"]])).data).toEqual({ mine: "bob" });
    expect((await cached.post([{ query: "{kept}" }])).headers["cache-control"]).toBe("no-store");
  });

  it("[graphql:C12] a query that a foreign page embeds is 403, and no response is sniffed", async () => {
    for (const destination of ["image", "script"]) {
      const answer = await endpoint.get({ query: "{hello}" }, [
        ["sec-fetch-site", "cross-site"],
        ["sec-fetch-mode", "no-cors"],
        ["sec-fetch-dest", destination],
      ]);
      expect([answer.status, answer.code, endpoint.ran]).toEqual([403, "CROSS_SITE_REFUSED", {}]);
      expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    }
    expect((await endpoint.get({ query: "{hello}" })).headers["x-content-type-options"]).toBe("nosniff");
  });

  it("leaves memory, the event loop and the next request as they were", async () => {
    expect(await section.faults()).toEqual([]);
  });
});

const withParam = (name: string, value: string, operations: number): Promise<Answer> =>
  endpoint.get({ query: "{hello}", [name]: value }, [], { operations });

/** Believes what the request says of itself. */
const identify: Middleware = (ctx, next) => {
  const name = ctx.request.headers["authorization"];
  if (typeof name === "string") (ctx as HttpContext).identity = { user: userNamed(name), auth: "jwt" };
  return next();
};

function cachingSchema(): GraphQLSchema {
  return schema({
    query: {
      plain: field(t.string)(() => "plain"),
      kept: field(t.string)(({ ctx }) => {
        ctx.cache({ maxAge: 60, scope: "public" });
        return "kept";
      }),
      mine: field(t.string)(({ ctx }) => {
        ctx.cache({ maxAge: 60 });
        return ctx.user.identity;
      }),
      gated: field(t.nullable(t.string), { auth: true })(({ ctx }) => {
        ctx.cache({ maxAge: 60 });
        return "gated";
      }),
      boom: field(t.nullable(t.string))(() => {
        throw new Error("s3cret");
      }),
    },
  });
}
