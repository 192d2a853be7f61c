import { identify, opentelemetry } from "portico";
import { SimpleUser } from "portico/auth";
import { type FormattedError, field, type ObjectType, OperationLog, object, schema, t } from "portico/graphql";
import type { LogCatcher } from "portico/testing";
import { describe, expect, it } from "vitest";
import { bodyOf, openSchema } from "../endpoint/open.ts";

const items = Array.from({ length: 100 }, (_, at) => ({ id: String(at) }));
const Item: ObjectType<{ readonly id: string }> = object("Item", {
  id: t.id,
  secret: field(t.nullable(t.string), { auth: true })(() => "secret"),
  late: field(t.nullable(t.string))(({ parent }) => {
    if (parent.id === "99") throw new Error("the cause of it all");
    return parent.id;
  }),
  judged: field(t.nullable(t.string), {
    auth: (_user, { parent }) => {
      throw new Error(`no verdict on ${JSON.stringify(parent)}`);
    },
  })(() => "never"),
});
const types = schema({
  query: {
    all: field(t.list(Item), { listSize: 100 })(() => items),
    sum: field(t.int, { params: { of: t.list(t.int) } })(({ of }) => of.length),
  },
});
const thirty = (selected: string): string =>
  `{ ${Array.from({ length: 30 }, (_, at) => `a${at}: all { ${selected} }`).join(" ")} }`;

const logged = ({ lines }: LogCatcher): LogCatcher["lines"] => lines.filter((line) => "correlation_id" in line);
const idsOf = (errors: readonly FormattedError[] = []): readonly unknown[] =>
  errors.map(({ extensions }) => extensions.correlationId);

describe("an operation with many errors", () => {
  it("[ERR-39] lists ten of them and the number of the others, in the response and in the log alike", async () => {
    const { client, log } = await openSchema(types, { limits: { cost: null } });

    const { data, errors = [] } = bodyOf(await client.post("/graphql", { body: { query: thirty("id secret") } }));

    expect(errors.map(({ path }) => path?.join("."))).toEqual([
      ...Array.from({ length: 10 }, (_, at) => `a0.${at}.secret`),
      undefined,
    ]);
    expect(errors.at(-1)).toMatchObject({
      message: "2990 more errors are not listed",
      extensions: { code: "TOO_MANY_ERRORS", count: 2990 },
    });
    expect(logged(log).map(({ correlation_id: id }) => id)).toEqual(idsOf(errors));
    expect(Object.values(data ?? {})).toEqual(Array(30).fill(items.map(({ id }) => ({ id, secret: null }))));
  });

  it("sends eleven errors unchanged", async () => {
    const { client, log } = await openSchema(types);
    const query = `{ all { ${Array.from({ length: 11 }, (_, at) => `n${at}`).join(" ")} } }`;
    const of = Array.from({ length: 11 }, () => "x");

    const eleven = bodyOf(await client.post("/graphql", { body: { query } })).errors ?? [];
    const variables = await client.post("/graphql", {
      body: { query: "query ($of: [Int!]!) { sum(of: $of) }", variables: { of } },
    });

    expect(eleven).toHaveLength(11);
    expect(eleven.at(-1)?.message).toMatch(/^Too many validation errors/);
    expect(bodyOf(variables).errors?.at(-1)?.message).toMatch(/^Too many errors processing variables/);
    expect(bodyOf(variables).errors).toHaveLength(11);
    expect(logged(log)).toHaveLength(22);
  });

  it("lists unexpected errors before denials", async () => {
    const { client, log } = await openSchema(types);

    const { errors = [] } = bodyOf(await client.post("/graphql", { body: { query: "{ all { secret late } }" } }));

    expect(errors.map(({ extensions }) => extensions.code)).toEqual([
      ...Array<string>(9).fill("UNAUTHENTICATED"),
      "INTERNAL_SERVER_ERROR",
      "TOO_MANY_ERRORS",
    ]);
    expect(log.text).toContain("the cause of it all");
  });

  it("reports the true number to hooks", async () => {
    const { client, graph } = await openSchema(types);
    const spans: unknown[] = [];
    const lines: string[] = [];
    graph.onOperation(new OperationLog({ warn: (sentence: string) => void lines.push(sentence) })).onOperation(
      opentelemetry({
        startSpan: (_name, options) => ({ end: () => void spans.push(options?.attributes?.["graphql.errors"]) }),
      }),
    );

    await client.post("/graphql", { body: { query: "{ all { secret } }" } });

    expect([spans, lines]).toEqual([[100], [expect.stringContaining("errors=100")]]);
  });

  it("[ERR-40] has short lines, whatever names and ids the client chose", async () => {
    const { client, log } = await openSchema(types, { limits: { aliases: null } });
    const query = `{ ${"a".repeat(60_000)}: all { secret } }`;

    await client.post("/graphql", { body: { query }, headers: { "x-request-id": "r".repeat(15_000) } });

    expect(logged(log)).toHaveLength(11);
    expect(log.text.length).toBeLessThan(11 * 1_000);
    const ids = new Set(logged(log).map(({ request_id: id }) => id));
    expect([...ids]).toEqual([expect.stringMatching(/^[\w-]{1,128}$/)]);
  });

  it("logs one line for a gate that fails for each object", async () => {
    const { client, log } = await openSchema(types, {
      middleware: [
        (ctx, next) => {
          identify(ctx, { user: new SimpleUser("ann"), auth: "session" });
          return next();
        },
      ],
    });

    await client.post("/graphql", { body: { query: "{ all { judged } }" } });

    expect(log.lines.filter(({ msg }) => msg.startsWith("a gate failed"))).toHaveLength(1);
    expect(logged(log)).toHaveLength(11);
  });
});
