import { authorized, HttpException, PorticoApp, rule, topic } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import {
  type ErrorDetails,
  type FormattedError,
  field,
  Graph,
  type GraphOptions,
  mutation,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { liveClient, logCatcher } from "portico/testing";
import { describe, expect, expectTypeOf, it, onTestFinished } from "vitest";
import { graphWarnings } from "../../audit/graph-warnings.ts";
import { bodyOf } from "../endpoint/open.ts";

const ticks = topic<string>("format-error.ticks");
const ownNotes = rule<{ readonly owner: string }>({
  name: "note.own",
  allows: (user, note) => note.owner === user.identity,
});
class Secret extends Error {}

function built(options: GraphOptions = {}) {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log });
  const users = { loadUser: async (name: string) => new SimpleUser(name) };
  app.use(new AuthenticationMiddleware({ userModel: users, backend: [] }));
  const findNote = (id: string) => (id === "theirs" ? { owner: "bob" } : undefined);
  const fail = (): never => {
    throw new Secret("the password of the database");
  };
  const graph = new Graph(
    schema({
      query: {
        hello: field(t.string, { params: { name: t.string("world") } })(({ name }) => `hello ${name}`),
        fails: field(t.nullable(t.string))(fail),
        refuses: field(t.nullable(t.string))(() => {
          throw new HttpException(409, "no Emma left", { code: "OUT_OF_STOCK", members: { left: 0 } });
        }),
        gated: field(t.nullable(t.string), { auth: useAuth() })(() => "open"),
        note: field(t.nullable(t.string), {
          params: { id: t.id, note: authorized(({ args }: { args: { id: string } }) => findNote(args.id), ownNotes) },
        })(({ note }) => note.owner),
      },
      mutation: { none: mutation(t.string)(() => "") },
      subscription: {
        ticks: subscription(t.string)(async function* ({ ctx }) {
          for await (const text of ctx.pubsub.subscribe(ticks)) yield text === "fail" ? fail() : text;
        }),
      },
    }),
    options,
  ).mount(app);
  return { app, log, graph };
}

async function open(options: GraphOptions) {
  const made = built(options);
  const client = await liveClient(made.app);
  onTestFinished(() => client.close());
  const ask = async (query: string, variables?: object) =>
    bodyOf(await client.post("/graphql", { body: { query, variables } }));
  return { ...made, client, ask };
}

/** A formatter that marks what it has seen. */
function marking() {
  const seen: ErrorDetails[] = [];
  const formatError = (shown: FormattedError, details: ErrorDetails) => {
    seen.push(details);
    return { message: `[${details.code}] ${shown.message}`, extensions: { ...shown.extensions, marked: true } };
  };
  return { seen, formatError };
}

describe("Graph.formatError", () => {
  it.each([
    ["an error of a resolver", "{ fails }", "INTERNAL_SERVER_ERROR", ["fails"]],
    ["an exception", "{ refuses }", "OUT_OF_STOCK", ["refuses"]],
    ["a denial by a gate", "{ gated }", "UNAUTHENTICATED", ["gated"]],
    ["a syntax error", "{ hello", "GRAPHQL_PARSE_FAILED", null],
    ["an unknown field", "{ nope }", "GRAPHQL_VALIDATION_FAILED", null],
    ["a variable that is missing", "query ($name: String!) { hello(name: $name) }", "BAD_USER_INPUT", null],
  ])("changes the message and the extensions of %s", async (_title, query, code, path) => {
    const { seen, formatError } = marking();
    const { ask } = await open({ formatError });

    const { errors } = await ask(query);

    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.message).toMatch(new RegExp(`^\\[${code}\\] `));
    expect(errors?.[0]?.extensions).toMatchObject({ code, marked: true, correlationId: expect.any(String) });
    expect(seen).toMatchObject([{ code, path }]);
    expect(seen[0]?.request.headers["content-type"]).toBe("application/json");
  });

  it("changes the errors of a batch, of the gate of the endpoint, and of a request that is no operation", async () => {
    const { formatError } = marking();
    const batch = await open({ formatError });
    const gated = await open({ formatError, auth: useAuth() });

    const both = await batch.client.post("/graphql", { body: [{ query: "{ hello }" }, { query: "{ gated }" }] });
    const refused = await gated.client.post("/graphql", { body: { query: "{ hello }" } });
    const noJson = await batch.client.post("/graphql", {
      body: "{oops",
      headers: { "content-type": "application/json" },
    });

    expect(both.json()).toMatchObject([
      { data: { hello: "hello world" } },
      { errors: [{ extensions: { marked: true } }] },
    ]);
    expect(refused.status).toBe(401);
    expect(bodyOf(refused).errors).toMatchObject([{ message: "[UNAUTHENTICATED] Authentication required" }]);
    expect(noJson.status).toBe(400);
    expect(bodyOf(noJson).errors).toMatchObject([{ extensions: { code: "BODY_NOT_JSON", marked: true } }]);
  });

  it("changes the errors of sockets and of events", async () => {
    const { formatError } = marking();
    const { client, app } = await open({ formatError });
    const socket = await client.socket("/graphql", { protocols: ["graphql-transport-ws"] });
    const send = (message: object): void => socket.send(JSON.stringify(message));
    const next = async (): Promise<any> => JSON.parse(await socket.next());
    send({ type: "connection_init" });
    await next();

    send({ type: "subscribe", id: "1", payload: { query: "{ nope }" } });
    const rejected = await next();
    const events = client.subscribe("subscription { ticks }");
    await events.ready();
    await app.pubsub.publish(ticks, "fail");
    const { value } = await events.next();

    expect(rejected).toMatchObject({ type: "error", payload: [{ extensions: { marked: true } }] });
    expect(value).toMatchObject({ errors: [{ extensions: { marked: true, code: "INTERNAL_SERVER_ERROR" } }] });
    await events.return();
    socket.close();
  });

  it("gives no masked error to the formatter, unless it is unmasked", async () => {
    const masked = marking();
    const unmasked = marking();

    await (await open({ formatError: masked.formatError })).ask("{ fails }");
    const { ask } = await open({ formatError: { format: unmasked.formatError, unmasked: true } });
    await ask("{ fails }");
    await (await open({ formatError: masked.formatError })).ask("{ refuses }");

    expect(masked.seen[0]?.error).toBeNull();
    expect(unmasked.seen[0]?.error).toBeInstanceOf(Secret);
    expect(masked.seen[1]?.error).toBeInstanceOf(HttpException);
    expectTypeOf(masked.seen[0]?.error).toEqualTypeOf<unknown>();
  });

  it("names an unmasked formatter in the access report", async () => {
    const { formatError } = marking();

    expect(await graphWarnings(built({ formatError }).app)).toEqual([]);
    expect(await graphWarnings(built({ formatError: { format: formatError, unmasked: true } }).app)).toEqual([
      "/graphql gives masked errors to formatError (unmasked: true): what it returns about them reaches clients",
    ]);
  });

  it("leaves the status, the path, the log line, the hooks and the correlation id as they are", async () => {
    const results: unknown[] = [];
    const { client, log, graph } = await open({
      auth: useAuth({ required: false }),
      formatError: () => ({ message: "", extensions: { code: "OTHER", correlationId: "mine" } }),
    });
    graph.onOperation((result) => {
      results.push(...result.errors.map(({ extensions }) => extensions.code));
    });

    const response = await client.post("/graphql", { body: { query: "{ refuses }" } });

    const [error] = bodyOf(response).errors ?? [];
    expect(response.status).toBe(200);
    expect(error).toEqual({
      message: "",
      locations: [{ line: 1, column: 3 }],
      path: ["refuses"],
      extensions: { code: "OTHER", correlationId: expect.not.stringMatching("^mine$") },
    });
    await expect.poll(() => results).toEqual(["OUT_OF_STOCK"]);
    const line = log.lines.find((one) => JSON.stringify(one).includes(String(error?.extensions.correlationId)));
    expect(line).toMatchObject({ code: "OUT_OF_STOCK" });
  });

  it.each([
    [
      "throws",
      (): never => {
        throw new Error("the formatter is broken");
      },
    ],
    ["returns a promise of something else", async () => 7],
    ["returns nothing", () => undefined],
    ["returns extensions that are not JSON", () => ({ extensions: { big: 1n } })],
    ["returns a message that is not a text", () => ({ message: 7 })],
  ])("sends the error unchanged if the formatter %s", async (_title, formatError) => {
    const { ask, log } = await open({ formatError: formatError as never });

    const { errors } = await ask("{ refuses }");

    expect(errors).toMatchObject([{ message: "no Emma left", extensions: { code: "OUT_OF_STOCK", left: 0 } }]);
    expect(log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  it("can't tell a refused object from a missing one", async () => {
    const { seen, formatError } = marking();
    const { ask } = await open({ formatError });

    const theirs = await ask('{ note(id: "theirs") }');
    const missing = await ask('{ note(id: "none") }');

    const plain = ({ code, path, error }: ErrorDetails) => ({
      code,
      path,
      members: Object.entries(error as Error),
      text: String(error),
    });
    expect(plain(seen[0] as ErrorDetails)).toEqual(plain(seen[1] as ErrorDetails));
    const [one, other] = [theirs, missing].map(({ errors }) => ({
      ...errors?.[0],
      extensions: { ...errors?.[0]?.extensions, correlationId: "" },
    }));
    expect(one).toEqual(other);
  });

  it("is a function or has both options", () => {
    expect(() => built({ formatError: "no" as never })).toThrow("Graph.formatError");
    expect(() => built({ formatError: { format: () => ({}) } as never })).toThrow("unmasked: true");
  });
});
