import { PorticoApp, rule } from "portico";
import {
  field,
  Graph,
  Limits,
  type NodeOptions,
  nodeKey,
  type ObjectType,
  object,
  printSchema,
  ResolverError,
  schema,
  t,
} from "portico/graphql";
import { testClient } from "portico/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ask, data, userNamed } from "./ask.ts";

interface BookRow {
  readonly id: string;
  readonly title: string;
}
interface NoteRow {
  readonly nr: number;
  readonly owner: string;
}
const bookRows: readonly BookRow[] = ["1", "2", "a:b", "ü"].map((id) => ({ id, title: `Book ${id}` }));
const noteRows: readonly NoteRow[] = [
  { nr: 1, owner: "ann" },
  { nr: 2, owner: "bob" },
];

const loadBooks = vi.fn<NodeOptions<BookRow>["load"]>();
const loadNotes = vi.fn<NodeOptions<NoteRow>["load"]>();
beforeEach(() => {
  // In another order than the keys, with a row that was not requested.
  loadBooks
    .mockReset()
    .mockImplementation(async (keys) => [
      ...bookRows.filter(({ id }) => keys.includes(id)).toReversed(),
      { id: "other", title: "Not requested" },
    ]);
  loadNotes.mockReset().mockImplementation((keys) => noteRows.filter(({ nr }) => keys.includes(String(nr))));
});

const ownNotes = rule<NoteRow>({ name: "note.own", allows: (user, note) => note.owner === user.identity });
const Book: ObjectType<BookRow> = object(
  "Book",
  { title: t.string },
  { node: { load: (keys, given) => loadBooks(keys, given) } },
);
const Note: ObjectType<NoteRow> = object(
  "Note",
  { owner: t.string },
  {
    auth: ownNotes,
    node: { load: (keys, given) => loadNotes(keys, given), key: "nr", isKey: (text) => /^\d{1,9}$/.test(text) },
  },
);
const library = schema({
  query: {
    books: field(t.list(Book))(() => [...bookRows]),
    notes: field(t.list(Note))(() => [...noteRows]),
  },
});
const idOf = (text: string): string => Buffer.from(text).toString("base64url");
const nodes = async (ids: readonly string[], user?: ReturnType<typeof userNamed>): Promise<unknown> =>
  (
    await data(
      library,
      "query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Book { title } ... on Note { owner } } }",
      {
        variables: { ids },
        ...(user === undefined ? {} : { user }),
      },
    )
  )["nodes"];

describe("an object type with the option node", () => {
  it("implements Node, and the query type has node and nodes", () => {
    const printed = printSchema(library);

    expect(printed).toContain("type Book implements Node {");
    expect(printed).toMatch(/interface Node \{[^}]*id: ID!/);
    expect(printed).toContain("node(id: ID!): Node");
    expect(printed).toContain("nodes(ids: [ID!]!): [Node]");
  });

  it("has ids that node accepts, and returns the same id", async () => {
    const { books } = (await data(library, "{ books { id } }")) as { books: { id: string }[] };

    for (const [at, { id }] of books.entries())
      expect(await data(library, `{ node(id: "${id}") { __typename id ... on Book { title } } }`)).toEqual({
        node: { __typename: "Book", id, title: bookRows[at]?.title },
      });
  });

  it("loads the objects of all fields with one call per type, and returns them in the order of the ids", async () => {
    const [one, two, note] = [idOf("Book:1"), idOf("Book:2"), idOf("Note:1")];

    const found = await data(
      library,
      `{ nodes(ids: ["${two}", "${note}", "${one}", "${two}"]) { id } node(id: "${idOf("Book:ü")}") { id } }`,
      { user: userNamed("ann") },
    );

    expect(found).toEqual({
      nodes: [{ id: two }, { id: note }, { id: one }, { id: two }],
      node: { id: idOf("Book:ü") },
    });
    expect(loadBooks.mock.calls.map(([keys]) => keys)).toEqual([["2", "1", "ü"]]);
    expect(loadNotes.mock.calls.map(([keys]) => keys)).toEqual([["1"]]);
  });

  it("is null for an object that the rule of its type refuses, as for one that does not exist", async () => {
    const ids = [idOf("Note:1"), idOf("Note:2"), idOf("Note:3")];

    expect(await nodes(ids, userNamed("ann"))).toEqual([{ id: ids[0], owner: "ann" }, null, null]);
    expect(await nodes(ids)).toEqual([null, null, null]);
    for (const id of [ids[1], ids[2]])
      expect(await ask(library, `{ node(id: "${id}") { id } }`, { user: userNamed("ann") })).toEqual({
        data: { node: null },
      });
  });

  it("is null for ids that are malformed, of unknown types, or rejected by isKey, without a call", async () => {
    const wrong = [
      "",
      "1",
      "Book:1",
      `${idOf("Book:1")}=`,
      ` ${idOf("Book:1")}`,
      Buffer.from([0x42, 0x3a, 0xff]).toString("base64url"),
      idOf("Book"),
      idOf(":1"),
      idOf("Author:1"),
      idOf("Query:1"),
      idOf("__proto__:1"),
      idOf("Note:x"),
      idOf("Book:\0"),
      idOf(`Book:${"x".repeat(2_000)}`),
    ];

    expect(await nodes(wrong)).toEqual(wrong.map(() => null));
    expect(loadBooks).not.toHaveBeenCalled();
    expect(loadNotes).not.toHaveBeenCalled();
  });

  it("accepts at most 100 ids", async () => {
    const ids = Array.from({ length: 101 }, () => idOf("Book:1"));
    const document = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }";

    const { errors } = await ask(library, document, { variables: { ids } });

    expect(errors?.map(({ originalError }) => originalError)).toMatchObject([{ code: "BAD_USER_INPUT", status: 400 }]);
    expect(loadBooks).not.toHaveBeenCalled();
    expect(await nodes(ids.slice(1))).toHaveLength(100);
  });

  it("costs as much as the number of ids", async () => {
    const app = new PorticoApp({ logger: false });
    new Graph(library, { limits: new Limits({ cost: 10 }) }).mount(app);
    const client = testClient(app);
    const codeOf = async (count: number, isVariable: boolean): Promise<unknown> => {
      const ids = Array.from({ length: count }, () => idOf("Book:1"));
      const body = isVariable
        ? { query: "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", variables: { ids } }
        : { query: `{ nodes(ids: ${JSON.stringify(ids)}) { id } }` };
      const answer = (await client.post("/graphql", { body })).json() as any;
      return answer.errors?.[0].extensions.code;
    };

    expect([await codeOf(9, true), await codeOf(9, false)]).toEqual([undefined, undefined]);
    expect(await codeOf(10, true)).toEqual(await codeOf(10, false));
    expect(await codeOf(10, true)).toMatch(/COST/);
  });

  it("fails only for the ids whose load fails", async () => {
    loadBooks.mockRejectedValue(new Error("no connection"));
    const [book, note] = [idOf("Book:1"), idOf("Note:1")];

    const result = await ask(library, `{ nodes(ids: ["${book}", "${note}"]) { id } }`, { user: userNamed("ann") });

    expect(result.data).toEqual({ nodes: [null, { id: note }] });
    expect(result.errors?.map(({ path }) => path)).toEqual([["nodes", 0]]);
  });

  it("reports a load that returns no list, and one that returns the object of another type", async () => {
    const shared = { id: "1" };
    const of = (name: string, load: () => unknown): ObjectType<{ id: string }> =>
      object(name, { own: field(t.string)(() => name) }, { node: { load: load as never } });
    const types = [of("One", () => [shared]), of("Two", () => [shared]), of("None", () => null)];
    const graph = schema({ query: { hello: field(t.string)(() => "") }, types });
    const messageOf = async (id: string): Promise<unknown> =>
      (await ask(graph, `{ node(id: "${idOf(id)}") { id } }`)).errors?.[0]?.originalError?.message;

    expect(await messageOf("One:1")).toBe(undefined);
    expect(await messageOf("Two:1")).toContain("node.load of Two returned an object that node.load of One");
    expect(await messageOf("None:1")).toBe("node.load of None must return a list of rows");
  });

  it("is rejected if it is declared wrongly", () => {
    const declare = (fields: object, node: unknown) => (): unknown =>
      object("Book", fields as never, { node } as never);

    expect(declare({ id: t.id }, { load: () => [] })).toThrow(
      new ResolverError("Book.id", "is declared by the option node: rename the field or remove it"),
    );
    expect(declare({}, {})).toThrow("object Book.node");
    expect(declare({}, { load: 1 })).toThrow("object Book.node.load must be a function");
    expect(declare({}, true)).toThrow("object Book.node must be an object with load");
    expect(() =>
      schema({ query: { node: field(t.string)(() => ""), book: field(t.nullable(Book))(() => null) } }),
    ).toThrow(new ResolverError("Query.node", "is declared twice"));
  });
});

it("nodeKey returns the key of an id of its type only", () => {
  expect(nodeKey(Book, idOf("Book:a:b"))).toBe("a:b");
  expect(nodeKey(Book, idOf("Note:1"))).toBeNull();
  expect(nodeKey(Book, "nonsense")).toBeNull();
});
