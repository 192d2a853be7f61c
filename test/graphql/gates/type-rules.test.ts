import { ConfigurationError, every, isIn, not, rule, some, topic } from "portico";
import { useAuth } from "portico/auth";
import {
  connection,
  field,
  type InterfaceType,
  loader,
  mutation,
  type ObjectType,
  object,
  printSchema,
  ResolverError,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { CursorPagination, type Scopable, SyncDataHandler } from "portico/pagination";
import { describe, expect, it, vi } from "vitest";
import type { ResultStream } from "../../../src/graphql/run/run-subscription.ts";
import { ask, data, denial, httpContext, listen, socketContext, userNamed } from "../ask.ts";

interface Note {
  readonly id: string;
  readonly org: string | null;
}
const rows: readonly Note[] = ["a1 a", "b1 b", "a2 a", "b2 b", "n1"].map((text) => {
  const [id = "", org = null] = text.split(" ");
  return { id, org };
});
const find = (id: string): Note | null => rows.find((row) => row.id === id) ?? null;

const asked = vi.fn<(id: string) => void>();
const ownNotes = rule<Note>({
  name: "note.own",
  allows: (user, note) => {
    asked(note.id);
    return note.org === user.identity;
  },
  where: (user) => isIn("org", [user.identity]),
});

const Note: ObjectType<Note> = object("Note", { id: t.id }, { auth: ownNotes });
const ada = { user: userNamed("a") };
const bob = { user: userNamed("b") };

describe("an object that the gate of its type refuses", () => {
  const query = {
    note: field(t.nullable(Note), { params: { id: t.id } })(({ id }) => find(id)),
    later: field(t.nullable(Note), { params: { id: t.id } })(async ({ id }) => find(id)),
    notes: field(t.list(Note))(() => rows),
    promised: field(t.list(Note))(() => rows.map(async (row) => row) as never),
    iterated: field(t.list(Note))(() => new Set(rows) as never),
    nested: field(t.list(t.list(Note)))(() => [rows, [find("b1") as Note]]),
  };
  const built = schema({ query });

  it("reads as absent: null without an error, like an object that does not exist", async () => {
    for (const name of ["note", "later"]) {
      const source = (id: string): string => `{ n: ${name}(id: "${id}") { id } }`;
      expect(await ask(built, source("a1"), ada)).toEqual({ data: { n: { id: "a1" } } });
      expect(JSON.stringify(await ask(built, source("b1"), ada))).toBe(
        JSON.stringify(await ask(built, source("missing"), ada)),
      );
      expect(await ask(built, source("a1"))).toEqual({ data: { n: null } });
    }
  });

  it.each(["notes", "promised", "iterated"])("is left out of a list: %s", async (name) => {
    expect(await data(built, `{ l: ${name} { id } }`, ada)).toEqual({ l: [{ id: "a1" }, { id: "a2" }] });
    expect(await data(built, `{ l: ${name} { id } }`, bob)).toEqual({ l: [{ id: "b1" }, { id: "b2" }] });
    expect(await data(built, `{ l: ${name} { id } }`)).toEqual({ l: [] });
  });

  it("is left out of a list of lists", async () => {
    expect(await data(built, "{ nested { id } }", ada)).toEqual({ nested: [[{ id: "a1" }, { id: "a2" }], []] });
  });

  it("is null in a list whose items may be null, like an object that does not exist", async () => {
    const byIds = schema({
      query: {
        notes: field(t.list(t.nullable(Note)), { params: { ids: t.list(t.id) } })(({ ids }) => ids.map(find)),
      },
    });
    const asked = (id: string): Promise<unknown> => data(byIds, `{ notes(ids: ["${id}", "a1"]) { id } }`, ada);

    expect(await asked("b1")).toEqual({ notes: [null, { id: "a1" }] });
    expect(await asked("missing")).toEqual({ notes: [null, { id: "a1" }] });
  });

  it("is asked about once per operation, and never for anonymous callers", async () => {
    asked.mockClear();
    await data(built, '{ notes { id } again: notes { id } note(id: "a1") { id } }', ada);
    expect(asked.mock.calls.flat().toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
    asked.mockClear();
    await data(built, "{ notes { id } }");
    expect(asked).not.toHaveBeenCalled();
  });

  it("is checked before any of its fields runs", async () => {
    const run = vi.fn<() => string>(() => "secret");
    const Secret: ObjectType<Note> = object(
      "Secret",
      { id: t.id, text: field(t.string)(() => run()) },
      { auth: ownNotes },
    );
    const secrets = schema({ query: { s: field(t.nullable(Secret))(() => find("b1")) } });

    expect(await data(secrets, "{ s { text } }", ada)).toEqual({ s: null });
    expect(run).not.toHaveBeenCalled();
  });

  it("is checked on a property, and as the value of a method", async () => {
    const Box: ObjectType<{ note: Note; get(): Note }> = object("Box", {
      note: Note,
      renamed: field(Note)(({ parent }) => parent.note),
    });
    const boxes = schema({
      query: { box: field(Box)(() => ({ note: find("b1") as Note, get: () => find("b1") as Note })) },
    });

    expect(await data(boxes, "{ box { note { id } renamed { id } } }", ada)).toEqual({
      box: { note: null, renamed: null },
    });
    expect(await data(boxes, "{ box { note { id } renamed { id } } }", bob)).toEqual({
      box: { note: { id: "b1" }, renamed: { id: "b1" } },
    });
  });

  it("makes the fields that return it nullable in the schema", () => {
    expect(printSchema(built)).toContain("notes: [Note!]\n");
    const strict = schema({ query: { note: field(Note, { nullable: false })(() => rows[0] as Note) } });
    expect(printSchema(strict)).toContain("note: Note!");
  });

  it("is an error if the gate cannot decide, and not absent", async () => {
    const failing = rule<Note>({
      name: "note.failing",
      allows: () => {
        throw new Error("the store is down");
      },
    });
    const Failing: ObjectType<Note> = object("Failing", { id: t.id }, { auth: failing });
    const Inverse: ObjectType<Note> = object("Inverse", { id: t.id }, { auth: not(failing) });
    const broken = schema({
      query: {
        one: field(Failing)(() => rows[0] as Note),
        list: field(t.list(Failing))(() => rows),
        inverse: field(Inverse)(() => rows[0] as Note),
      },
    });

    const result = await ask(broken, "{ one { id } list { id } inverse { id } }", ada);
    expect(result.data).toEqual({ one: null, list: null, inverse: null });
    expect(denial(result)).toBe("one FORBIDDEN, list FORBIDDEN, inverse FORBIDDEN");
    const unknown = await ask(built, '{ note(id: "a1") { id } }', { failure: new Error("down") });
    expect(denial(unknown)).toBe("note SERVICE_UNAVAILABLE");
  });

  it("asks about all items before it awaits any, so that loaders load once", async () => {
    const load = vi.fn<(ids: readonly string[]) => Promise<boolean[]>>(async (ids) =>
      ids.map((id) => id.startsWith("a")),
    );
    const allowed = loader(load);
    const byLoader = rule<Note>({ name: "note.loaded", allows: (_user, note, { ctx }) => allowed.load(ctx, note.id) });
    const Loaded: ObjectType<Note> = object("Loaded", { id: t.id }, { auth: byLoader });
    const loaded = schema({ query: { notes: field(t.list(Loaded))(() => rows) } });

    expect(await data(loaded, "{ notes { id } }", ada)).toEqual({ notes: [{ id: "a1" }, { id: "a2" }] });
    expect(load).toHaveBeenCalledOnce();
  });
});

describe("every form of auth on a type", () => {
  const seen = async (auth: never, caller: object): Promise<unknown> => {
    const Thing: ObjectType<Note> = object("Thing", { id: t.id }, { auth });
    return (await ask(schema({ query: { thing: field(Thing)(() => rows[0] as Note) } }), "{ thing { id } }", caller))
      .data;
  };
  it.each([
    ["true", true, true, false],
    ["useAuth", useAuth(), true, false],
    ["useAuth for everybody", useAuth({ required: false }), true, true],
    ["a missing permission", useAuth({ permissions: ["x"] }), false, false],
    ["a function of the user", (user: { identity: string }) => user.identity === "a", true, false],
    ["a function of the object", (_user: unknown, { parent }: { parent: Note }) => parent.org === "a", true, false],
    ["a rule", ownNotes, true, false],
    ["every", every(true, ownNotes), true, false],
    ["some", some(useAuth({ permissions: ["x"] }), ownNotes), true, false],
    ["not", not(ownNotes), false, true],
    ["false", false, true, true],
  ])("%s", async (_name, auth, signedIn, anonymous) => {
    const [there, gone] = [{ thing: { id: "a1" } }, { thing: null }];
    expect(await seen(auth as never, ada)).toEqual(signedIn ? there : gone);
    expect(await seen(auth as never, {})).toEqual(anonymous ? there : gone);
  });
});

describe("abstract types", () => {
  const kinds = { resolveType: (row: Note) => (row.org === null ? "Open" : "Note") };
  const Open: ObjectType<Note> = object("Open", { id: t.id });
  const Any = t.union("Any", [Note, Open], kinds);
  const built = schema({
    query: {
      one: field(Any, { params: { id: t.id } })(({ id }) => find(id) as Note),
      all: field(t.list(Any))(() => rows),
    },
  });

  it("ask the gate of the object's own type, in a union", async () => {
    expect(await data(built, "{ all { ... on Note { id } ... on Open { id } } }", ada)).toEqual({
      all: [{ id: "a1" }, { id: "a2" }, { id: "n1" }],
    });
    expect(await data(built, '{ one(id: "b1") { __typename } }', ada)).toEqual({ one: null });
    expect(printSchema(built)).toContain("one(id: ID!): Any\n");
  });

  it("add the gate of an interface to those of the objects", async () => {
    const Owned: InterfaceType<Note> = t.interface(
      "Owned",
      { id: t.id },
      { auth: ownNotes, resolveType: () => "Memo" },
    );
    const Memo: ObjectType<Note> = object(
      "Memo",
      {},
      { implements: [Owned], auth: (_user, { parent }) => parent.id !== "a2" },
    );
    const owned = schema({ query: { all: field(t.list(Owned))(() => rows), memos: field(t.list(Memo))(() => rows) } });

    expect(await data(owned, "{ all { id } memos { id } }", ada)).toEqual({
      all: [{ id: "a1" }],
      memos: [{ id: "a1" }],
    });
  });

  it("are closed if resolveType returns no name", async () => {
    const Later = t.union("Later", [Note, Open], { resolveType: (async () => "Note") as never });
    const later = schema({ query: { all: field(t.list(Later))(() => rows) } });

    expect((await ask(later, "{ all { ... on Note { id } } }", ada)).data).toEqual({ all: null });
  });
});

describe("mutations and subscriptions", () => {
  it("fail if the result of a mutation is refused", async () => {
    const built = schema({
      query: { a: field(t.int)(() => 1) },
      mutation: {
        touch: mutation(Note, { params: { id: t.id } })(({ id }) => find(id) as Note),
        all: mutation(t.list(Note))(() => rows),
      },
    });
    const result = await ask(built, 'mutation { mine: touch(id: "a1") { id } theirs: touch(id: "b1") { id } }', ada);

    expect(result.errors?.map(({ path, message }) => [path, message])).toEqual([[["theirs"], "Not found"]]);
    expect((await ask(built, "mutation { all { id } }", ada)).errors).toHaveLength(1);
  });

  it("are asked about an object again after each mutation, because the mutation may have changed it", async () => {
    const note = { id: "a1", org: "a" };
    const Own: ObjectType<Note> = object("Own", { id: t.id }, { auth: ownNotes });
    const move = mutation(Own, { params: { org: t.id } })(({ org }) => Object.assign(note, { org }));
    const built = schema({ query: { a: field(t.int)(() => 1) }, mutation: { move } });
    const result = await ask(built, 'mutation { stay: move(org: "a") { id } leave: move(org: "b") { id } }', ada);

    expect(result.errors?.map(({ path, message }) => [path, message])).toEqual([[["leave"], "Not found"]]);
  });

  const posted = topic<Note>("rules.posted");
  const events = {
    posted: subscription(Note)(async function* ({ ctx }) {
      yield* ctx.pubsub.subscribe(posted);
    }),
    all: subscription(t.list(Note))(async function* () {
      yield rows.filter(({ org }) => org === "b");
      yield rows;
    }),
    gaps: subscription(t.list(t.nullable(Note)))(async function* () {
      yield [find("b1"), null];
      yield [find("b1"), find("a1")];
      yield [null];
    }),
    six: subscription(Note)(async function* () {
      yield* rows;
    }),
  };
  const live = schema({ query: { a: field(t.int)(() => 1) }, subscription: events });
  const all = async (source: string): Promise<unknown[]> => {
    const stream = (await listen(live, source, socketContext(ada))) as ResultStream;
    return Array.fromAsync(stream, ({ data: received, errors }) => JSON.parse(JSON.stringify({ received, errors })));
  };

  it("drop events whose object is refused, without null and without an error", async () => {
    expect(await all("subscription { six { id } }")).toEqual([
      { received: { six: { id: "a1" } } },
      { received: { six: { id: "a2" } } },
    ]);
    expect(await all("subscription { gaps { id } }")).toEqual([
      { received: { gaps: [null, { id: "a1" }] } },
      { received: { gaps: [null] } },
    ]);
    expect(await all("subscription { all { id } }")).toEqual([{ received: { all: [{ id: "a1" }, { id: "a2" }] } }]);
  });

  it("cannot be shared over a type with a gate", () => {
    const shared = { posted: subscription(t.list(Note), { shared: true })(async function* () {}) };

    expect(() => schema({ query: { a: field(t.int)(() => 1) }, subscription: shared })).toThrow(
      new ResolverError("Subscription.posted", "cannot be shared: the gate of its type decides for each caller"),
    );
  });
});

describe("a rule in a place without an object", () => {
  it("is a ConfigurationError for a root field, and asks about the parent of any other field", async () => {
    expect(() => schema({ query: { note: field(t.string, { auth: ownNotes as never })(() => "") } })).toThrow(
      ConfigurationError,
    );
    expect(() =>
      schema({ query: { note: field(t.string, { auth: every(true, ownNotes) as never })(() => "") } }),
    ).toThrow(
      "Query.note.auth is the rule note.own, which decides about an object, and there is none here: set it on the object type, or call ctx.authorize(rule, object)",
    );
    const Memo: ObjectType<Note> = object("Memo", { id: t.id, org: field(t.nullable(t.string), { auth: ownNotes }) });
    const memos = schema({ query: { memos: field(t.list(Memo))(() => rows.slice(0, 2)) } });
    const result = await ask(memos, "{ memos { id org } }", ada);

    expect(result.data).toEqual({
      memos: [
        { id: "a1", org: "a" },
        { id: "b1", org: null },
      ],
    });
    expect(denial(result)).toBe("memos.1.org FORBIDDEN");
  });
});

describe("a connection over a type with a gate", () => {
  const byId = new CursorPagination({ sortField: "id", defaultPageSize: 1, totals: "exact" });
  const query = { notes: connection(Note, byId)(() => rows) };
  const built = schema({ query });

  it("is nullable, and so are its edges, nodes and node", () => {
    const sdl = printSchema(built);
    expect(sdl).toMatch(/notes\([^)]*\): NoteConnection\n/s);
    expect(sdl).toContain("edges: [NoteEdge]\n");
    expect(sdl).toContain("nodes: [Note]\n");
    expect(sdl).toContain("node: Note\n");
  });

  const pageOf = async (source: string, caller: object): Promise<any> =>
    (await ask(built, source, caller)).data?.["notes"];

  it("has only the items that the rule allows, in its pages, its total and its cursors", async () => {
    const all = "{ notes(first: 10) { totalCount nodes { id } edges { node { id } } pageInfo { hasNextPage } } }";
    expect(await pageOf(all, ada)).toEqual({
      totalCount: 2,
      nodes: [{ id: "a1" }, { id: "a2" }],
      edges: [{ node: { id: "a1" } }, { node: { id: "a2" } }],
      pageInfo: { hasNextPage: false },
    });
    expect(await pageOf(all, {})).toMatchObject({ totalCount: 0, nodes: [], pageInfo: { hasNextPage: false } });
    const { pageInfo } = await pageOf("{ notes(first: 1) { pageInfo { endCursor } } }", ada);
    const next = `{ notes(first: 1, after: "${pageInfo.endCursor}") { nodes { id } } }`;
    expect(await pageOf(next, ada)).toEqual({ nodes: [{ id: "a2" }] });
  });

  it("counts nothing if the rule has no condition", async () => {
    const uncounted = rule<Note>({ name: "note.uncounted", allows: (user, note) => note.org === user.identity });
    const Uncounted: ObjectType<Note> = object("Uncounted", { id: t.id }, { auth: uncounted });
    const lists = schema({ query: { notes: connection(Uncounted, byId)(() => rows) } });
    const source = "{ notes(first: 1) { totalCount nodes { id } pageInfo { hasNextPage } } }";

    expect(await data(lists, source, ada)).toEqual({
      notes: { totalCount: null, nodes: [{ id: "a1" }], pageInfo: { hasNextPage: true } },
    });
  });

  it("replaces an item that where includes and allows refuses by an error", async () => {
    class Everything extends SyncDataHandler<Note> implements Scopable<Note> {
      getTotalItems = (): number => 2;
      getItems = (): readonly Note[] => rows.slice(0, 2);
      scopedTo = (): this => this;
    }
    const torn = schema({ query: { notes: connection(Note, byId)(() => new Everything()) } });
    const result = await ask(torn, "{ notes(first: 2) { nodes { id } edges { cursor node { id } } } }", ada);

    expect(result.data).toEqual({
      notes: {
        nodes: [{ id: "a1" }, null],
        edges: [
          { cursor: expect.any(String), node: { id: "a1" } },
          { cursor: expect.any(String), node: null },
        ],
      },
    });
    expect(result.errors?.map(({ path, message }) => `${path?.join(".")} ${message}`).toSorted()).toEqual([
      expect.stringMatching(/^notes\.edges\.1\.node .*note\.own/),
      expect.stringMatching(/^notes\.nodes\.1 .*note\.own/),
    ]);
  });

  it("rejects a handler that can apply no condition", async () => {
    class Numbers extends SyncDataHandler<Note> {
      getTotalItems = (): number => 2;
      getItems = (): readonly Note[] => rows.slice(0, 2);
    }
    const closed = schema({ query: { notes: connection(Note, byId)(() => new Numbers()) } });
    const result = await ask(closed, "{ notes { nodes { id } } }", ada);

    expect(result.data).toEqual({ notes: null });
    expect(result.errors?.[0]?.originalError).toBeInstanceOf(ConfigurationError);
  });
});

describe("ctx.authorize and ctx.can", () => {
  it("return the object, or reject with 404 as for a missing object", async () => {
    const ctx = httpContext(ada);

    expect(await ctx.authorize(ownNotes, find("a1"))).toEqual({ id: "a1", org: "a" });
    await expect(ctx.authorize(ownNotes, find("b1"))).rejects.toMatchObject({ status: 404, message: "Not found" });
    await expect(ctx.authorize(ownNotes, find("zz"))).rejects.toMatchObject({ status: 404, message: "Not found" });
    await expect(ctx.authorize(ownNotes, find("b1"), { status: 403 })).rejects.toMatchObject({ status: 403 });
    await expect(httpContext().authorize(ownNotes, find("a1"))).rejects.toMatchObject({ status: 404 });
    expect(await ctx.can(ownNotes, find("a1"))).toBe(true);
    expect(await ctx.can(not(ownNotes), find("a1"))).toBe(false);
    expect(await ctx.can(ownNotes, find("zz"))).toBe(false);
    await expect(httpContext({ failure: new Error("down") }).can(ownNotes, find("a1"))).rejects.toMatchObject({
      status: 503,
    });
  });
});
