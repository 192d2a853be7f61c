import { AnonymousUser, PorticoApp } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import { field, Graph, schema, t } from "portico/graphql";
import { type TestClient, testClient } from "portico/testing";
import { expect, it } from "vitest";
import { overBoth } from "../matrix.ts";
import { HeaderBackend } from "./recording-backend.ts";

const graph = schema({
  query: {
    open: field(t.boolean)(({ ctx }) => ctx.user instanceof AnonymousUser),
    me: field(t.nullable(t.string), { auth: true })(({ ctx }) => ctx.user.identity),
    books: field(t.nullable(t.string), { auth: (user) => user.hasPermission("read:books") })(() => "Emma"),
  },
});
const userModel = { loadUser: async (name: string) => new SimpleUser(name, name === "reader" ? ["read:books"] : []) };
const app = (): PorticoApp => {
  const made = new PorticoApp({ logger: false }).use(
    new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("session") }),
  );
  new Graph(graph).mount(made);
  return made;
};
interface Answer {
  readonly data: unknown;
  readonly errors?: readonly { readonly path: readonly string[]; readonly extensions: { readonly code: string } }[];
}
async function ask(
  client: TestClient,
  headers: Record<string, string> = {},
): Promise<{ status: number; data: unknown; codes: Record<string, string> }> {
  const answer = await client.post("/graphql", { body: { query: "{ open me books }" }, headers });
  const { data, errors = [] } = answer.json() as Answer;
  return {
    status: answer.status,
    data,
    codes: Object.fromEntries(errors.map((error) => [error.path.join("."), error.extensions.code])),
  };
}

overBoth("[GAT-01] a field sees the caller that the middleware found, as a route does", app, async (client) => {
  expect(await ask(client, { "x-session": "reader" })).toEqual({
    status: 200,
    data: { open: false, me: "reader", books: "Emma" },
    codes: {},
  });
  expect(await ask(client, { "x-session": "stranger" })).toEqual({
    status: 200,
    data: { open: false, me: "stranger", books: null },
    codes: { books: "FORBIDDEN" },
  });
  expect(await ask(client)).toEqual({
    status: 200,
    data: { open: true, me: null, books: null },
    codes: { me: "UNAUTHENTICATED", books: "UNAUTHENTICATED" },
  });
});

it("[GAT-02] [GAT-03] without authentication the caller is nobody, and a gated field says so", async () => {
  const bare = new PorticoApp({ logger: false });
  new Graph(graph).mount(bare);

  expect(await ask(testClient(bare))).toEqual({
    status: 200,
    data: { open: true, me: null, books: null },
    codes: { me: "UNAUTHENTICATED", books: "UNAUTHENTICATED" },
  });
});

it("[GAT-04] says SERVICE_UNAVAILABLE on gated fields while it is not known who is calling", async () => {
  expect(await ask(testClient(app()), { "x-session": "!" })).toEqual({
    status: 200,
    data: { open: true, me: null, books: null },
    codes: { me: "SERVICE_UNAVAILABLE", books: "SERVICE_UNAVAILABLE" },
  });
});

it("refuses the whole endpoint by its gate, in the shape that GraphQL clients read", async () => {
  const made = new PorticoApp({ logger: false }).use(
    new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("session") }),
  );
  new Graph(graph, { auth: useAuth({ permissions: ["read:books"] }) }).mount(made);
  const client = testClient(made);

  const answers = await Promise.all(
    [{}, { "x-session": "stranger" }, { "x-session": "!" }, { "x-session": "reader" }].map((headers) =>
      client.post("/graphql", { body: { query: "{ me }" }, headers }),
    ),
  );

  expect(answers.map(({ status }) => status)).toEqual([401, 403, 503, 200]);
  expect(answers[0]?.headers["www-authenticate"]).toBe('SESSION realm="test"');
  expect(answers[0]?.json()).toMatchObject({ errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
});
