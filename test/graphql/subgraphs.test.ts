import { buildSubgraphSchema } from "@apollo/subgraph";
import { parse } from "graphql";
import { ConfigurationError, PorticoApp, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { Graph, type GraphOptions } from "portico/graphql";
import { liveClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";

interface Person {
  readonly id: string;
  readonly team?: string;
}
const people = new Map([["ann", { id: "ann", team: "board", salary: 90_000 }]]);
const sameTeam = rule<Person>({
  name: "person.team",
  allows: (user, person) => user.hasPermission(`team:${person.team}`),
});

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])';
const SDL = `${LINK}
  interface Named @key(fields: "id") { id: ID! }
  type Person implements Named @key(fields: "id") { id: ID! team: String salary: Int }
  type Query { hello: String hidden: String }`;

function subgraph(isLoading: boolean) {
  const loading = { __resolveReference: ({ id }: Person) => people.get(id) ?? null };
  const Person = { salary: ({ id }: Person) => people.get(id)?.salary, ...(isLoading ? loading : {}) };
  const Named = { __resolveType: () => "Person" };
  return buildSubgraphSchema([{ typeDefs: parse(SDL), resolvers: { Person, Named } as never }]);
}

async function serve(options: GraphOptions, isLoading = true) {
  const app = new PorticoApp({ logger: false });
  new Graph(subgraph(isLoading), options).mount(app);
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  return async (query: string, user?: SimpleUser, variables: object = {}) => {
    const caller = user === undefined ? client : client.as(user);
    const response = await caller.post("/graphql", { body: { query, variables } });
    const { data, errors } = response.json() as {
      readonly data?: unknown;
      readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
    };
    return { status: response.status, data, code: errors?.[0]?.extensions.code };
  };
}

// The library brings the graphql that is installed beside it: the tests of the other major cannot use it.
describe.skipIf(process.env["PORTICO_GRAPHQL"] === "17")("a subgraph", () => {
  const entities = "query ($of: [_Any!]!) { _entities(representations: $of) { ... on Person { id salary } } }";

  it.each([
    ["its type", { Person: sameTeam }],
    ["its type, by the caller alone", { Person: true }],
    ["an interface of its type", { Named: sameTeam }],
    ["a field, by the object", { "Person.salary": sameTeam }],
    ["a field, by a function of the object", { "Person.salary": (_user: unknown, _place: unknown) => true }],
  ] as const)("does not start with a guarded entity that it does not load: %s", (_name, rules) => {
    const start = (isLoading: boolean) => new Graph(subgraph(isLoading), { rules });

    expect(() => start(false)).toThrow(ConfigurationError);
    expect(() => start(false)).toThrow("guards the entity Person, which has no __resolveReference");
    expect(() => start(false)).toThrow("Add a __resolveReference to Person that loads the object by its key");
    expect(() => start(true)).not.toThrow();
  });

  it("judges the object that it loads, and not the representation that was sent", async () => {
    const ask = await serve({ rules: { Person: sameTeam } });
    const of = [{ __typename: "Person", id: "ann", team: "kitchen" }];

    expect((await ask(entities, new SimpleUser("eve", ["team:kitchen"]), { of })).data).toEqual({ _entities: [null] });
    expect((await ask(entities, new SimpleUser("bob", ["team:board"]), { of })).data).toEqual({
      _entities: [{ id: "ann", salary: 90_000 }],
    });
  });

  it("starts with a gate of a field that decides about the caller alone", async () => {
    const ask = await serve({ rules: { "Person.salary": useAuth({ permissions: ["read:salaries"] }) } }, false);
    const of = [{ __typename: "Person", id: "ann" }];

    expect((await ask(entities, new SimpleUser("eve", []), { of })).data).toEqual({
      _entities: [{ id: "ann", salary: null }],
    });
  });

  it.each([
    "{ _service { sdl } }",
    "{ other: _service { text: sdl } }",
    "{ ...F } fragment F on Query { ... { _service { sdl } } }",
    "{ hello _service { __typename } }",
  ])("does not return its SDL while introspection is off: %s", async (query) => {
    const ask = await serve({ introspection: false });

    expect(await ask(query)).toEqual(await ask("{ __schema { types { name } } }"));
    expect(await ask(query)).toEqual({ status: 403, data: undefined, code: "INTROSPECTION_DISABLED" });
    expect(await ask("{ hello }")).toMatchObject({ status: 200, data: { hello: null } });
  });

  it("can guard its SDL and its entities", async () => {
    const router = useAuth({ permissions: ["route"] });
    const ask = await serve({ rules: { "Query._service": router, "Query._entities": router } });
    const of = [{ __typename: "Person", id: "ann" }];
    const [eve, gateway] = [new SimpleUser("eve", []), new SimpleUser("gateway", ["route"])];

    expect(await ask("{ _service { sdl } }")).toMatchObject({ data: null, code: "UNAUTHENTICATED" });
    expect(await ask(entities, eve, { of })).toMatchObject({ data: null, code: "FORBIDDEN" });
    expect((await ask("{ _service { sdl } }", gateway)).data).toMatchObject({
      _service: { sdl: expect.stringContaining("hidden") },
    });
    expect((await ask(entities, gateway, { of })).data).toEqual({ _entities: [{ id: "ann", salary: 90_000 }] });
  });
});
