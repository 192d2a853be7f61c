import { authorized, Depend, every, PorticoApp, provide, rule } from "portico";
import { SimpleUser } from "portico/auth";
import { field, Graph, mutation, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { type LiveClient, liveClient } from "portico/testing";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { accessTable } from "../../../src/audit/table/access-table.ts";

interface Note {
  readonly id: string;
  readonly owner: string;
  readonly text: string;
}
const NOTES: readonly Note[] = [
  { id: "1", owner: "ann", text: "milk" },
  { id: "2", owner: "bob", text: "bread" },
];
const ann = new SimpleUser("ann");

/** What happened, in its order. */
let happened: string[] = [];
beforeEach(() => {
  happened = [];
});
let client: LiveClient;

const findNote = async (id: string): Promise<Note | undefined> => {
  happened.push(`load ${id}`);
  return NOTES.find((note) => note.id === id);
};
const ownNotes = rule<Note>({
  name: "note.own",
  says: "the owner",
  allows: (user, note) => {
    happened.push(`rule ${note.id}`);
    return note.owner === user.identity;
  },
});
const publicNotes = rule<Note>({ name: "note.public", anonymous: true, allows: (_user, { text }) => text === "milk" });
const shortNotes = rule<Note>({ name: "note.short", allows: (_user, { text }) => text.length < 5 });
const unit = provide(async function* ({ ctx }) {
  happened.push("begin");
  try {
    yield { find: findNote };
  } finally {
    happened.push(`end: ${ctx.outcome}`);
  }
});
const inUnit = Depend(unit);

const open = async (app: PorticoApp): Promise<LiveClient> => {
  const opened = await liveClient(app);
  onTestFinished(() => opened.close());
  client = opened;
  return client.as(ann) as LiveClient;
};
const app = (): PorticoApp => new PorticoApp({ logger: false });

describe("an object that a route declares", () => {
  const gated = (user: SimpleUser): boolean => {
    happened.push("gate");
    return user.isAuthenticated;
  };
  const routes = (): PorticoApp =>
    app().post(
      "/notes/:id",
      {
        auth: gated as never,
        params: { note: authorized(({ path }) => findNote(path.id), ownNotes) },
        body: z.object({ n: z.number() }),
      },
      ({ note }) => {
        happened.push("handler");
        return note;
      },
    );

  it("is loaded after the gate and the schemas, and the handler runs if the rule allows it", async () => {
    const as = await open(routes());

    expect((await as.post("/notes/1", { body: { n: 1 } })).json()).toEqual(NOTES[0]);
    expect(happened).toEqual(["gate", "load 1", "rule 1", "handler"]);
    happened = [];
    expect((await as.post("/notes/1", { body: { n: "x" } })).status).toBe(422);
    expect(happened).toEqual(["gate"]);
    happened = [];
    expect((await client.post("/notes/1", { body: { n: 1 } })).status).toBe(401);
    expect(happened).toEqual([]);
  });

  it("is 404 if it is another's, as an unknown id is, and the handler does not run", async () => {
    const as = await open(routes());
    const read = async (id: string): Promise<string> => {
      const response = await as.post(`/notes/${id}`, { body: { n: 1 } });
      const { status, headers } = response;
      const { date: _date, "x-request-id": _id, ...others } = headers;
      return JSON.stringify([status, others, response.text().replaceAll(/"(?:correlation_id|instance)":"[^"]*"/g, "")]);
    };

    expect(await read("2")).toMatch(/^\[404/);
    expect(await read("2")).toBe(await read("9"));
    expect(happened).not.toContain("handler");
  });

  it("is refused with 403 on request, and by what the caller may not do with it", async () => {
    const load = ({ path }: { readonly path: { readonly id: string } }): Promise<Note | undefined> => findNote(path.id);
    const as = await open(
      app()
        .get("/known/:id", { params: { note: authorized(load, ownNotes, { status: 403 }) } }, ({ note }) => note.text)
        .get(
          "/short/:id",
          { params: { note: authorized(load, ownNotes, { may: shortNotes }) } },
          ({ note }) => note.text,
        )
        .get("/long/:id", { params: { note: authorized(load, shortNotes, { may: every(ownNotes) }) } }, () => "long"),
    );

    expect((await as.get("/known/2")).status).toBe(403);
    expect((await as.get("/known/9")).status).toBe(404);
    expect((await as.get("/short/1")).status).toBe(200);
    expect((await as.get("/short/2")).status).toBe(404);
    expect((await as.get("/long/1")).status).toBe(200);
    expect((await as.get("/long/2")).status).toBe(404);
    const milks = rule<Note>({ name: "milk", allows: () => true });

    const other = await open(
      app().get("/notes/:id", { params: { note: authorized(load, milks, { may: ownNotes }) } }, () => "mine"),
    );
    expect((await other.get("/notes/2")).status).toBe(403);
  });

  it("is loaded by the query and the body as their schemas return them", async () => {
    const load = ({ query, body }: { readonly query: { readonly n: number }; readonly body: { readonly m: number } }) =>
      findNote(String(query.n + body.m));
    const as = await open(
      app().post(
        "/notes",
        {
          query: z.object({ n: z.coerce.number() }),
          body: z.object({ m: z.number() }),
          params: { note: authorized(load, ownNotes) },
        },
        ({ note }) => note.id,
      ),
    );

    expect((await as.post("/notes?n=0", { body: { m: 1 } })).json()).toBe("1");
    expect((await as.post("/notes?n=1", { body: { m: 1 } })).status).toBe(404);
  });

  it("shares a dependency that the handler declares too, in either order", async () => {
    const note = authorized({ unit: inUnit })(
      ({ unit, path }: { unit: { find: typeof findNote }; path: { id: string } }) => unit.find(path.id),
      ownNotes,
    );
    const as = await open(
      app()
        .get("/before/:id", { params: { work: inUnit, note } }, ({ work }) => typeof work.find)
        .get("/after/:id", { params: { note, work: inUnit } }, ({ work }) => typeof work.find)
        .get("/hidden/:id", { params: { note } }, ({ note }) => note.id),
    );

    for (const path of ["/before/1", "/after/1", "/hidden/1"]) {
      happened = [];
      expect((await as.get(path)).status).toBe(200);
      await expect.poll(() => happened).toEqual(["begin", "load 1", "rule 1", "end: success"]);
    }
    happened = [];
    expect((await as.get("/after/2")).status).toBe(404);
    await expect.poll(() => happened).toEqual(["begin", "load 2", "rule 2", "end: failure"]);
  });

  it("may be several, of which each can be refused", async () => {
    const by = (name: "from" | "to") =>
      authorized(({ path }: { path: Record<"from" | "to", string> }) => findNote(path[name]), publicNotes);
    const as = await open(
      app().get("/:from/:to", { params: { from: by("from"), to: by("to") } }, ({ from, to }) => [from.id, to.id]),
    );

    expect((await as.get("/1/1")).json()).toEqual(["1", "1"]);
    expect((await as.get("/1/2")).status).toBe(404);
    expect((await as.get("/2/1")).status).toBe(404);
    expect((await client.get("/1/1")).status).toBe(200);
  });

  it("is 503 if the rule cannot decide, and 500 if it cannot be loaded", async () => {
    const lost = rule<Note>({
      name: "lost",
      allows: () => {
        throw new Error("no connection");
      },
    });
    const failing = (): Promise<Note> => Promise.reject(new Error("disk"));
    const as = await open(
      app()
        .get("/lost", { params: { note: authorized(() => findNote("1"), lost) } }, () => "never")
        .get("/failing", { params: { note: authorized(failing, ownNotes) } }, () => "never"),
    );

    expect((await as.get("/lost")).status).not.toBe(200);
    expect((await as.get("/failing")).status).toBe(500);
  });

  it("is 500 if it is a list, which a rule that denies would let through as a whole", async () => {
    const notSecret = rule<any>({ name: "note.open", allows: (_user, note) => note.secret !== true });
    const list = [{ secret: true }];
    const asAnn = await open(
      app()
        .get("/now", { auth: true, params: { note: authorized((): any => list, notSecret) } }, ({ note }) => note)
        .get(
          "/later",
          { auth: true, params: { note: authorized(async (): Promise<any> => list, notSecret) } },
          ({ note }) => note,
        ),
    );

    expect([(await asAnn.get("/now")).status, (await asAnn.get("/later")).status]).toEqual([500, 500]);
  });

  it("is described in the OpenAPI document, and listed in the access table", async () => {
    const documented = new PorticoApp({ logger: false, openapi: true })
      .get("/notes/:id", { params: { note: authorized(({ path }) => findNote(path.id), ownNotes) } }, () => "")
      .get("/other", () => "");
    const as = await open(documented);
    const { paths }: any = (await as.get("/openapi.json")).json();

    expect(Object.keys(paths["/notes/{id}"].get.responses)).toContain("404");
    expect(Object.keys(paths["/other"].get.responses)).not.toContain("404");
    expect(await accessTable(documented, null)).toContainEqual(
      expect.objectContaining({ kind: "object", place: "GET /notes/:id: note", gate: "rule note.own (the owner)" }),
    );
  });
});

describe.each(["portico", "graphql-js"] as const)("an object that a field declares, by %s", (executor) => {
  const NoteType: ObjectType<Note> = object("Note", { id: t.id, text: t.string });
  const params = {
    id: t.id,
    note: authorized(({ args }: { readonly args: { readonly id: string } }) => findNote(args.id), ownNotes),
  };
  const build = schema({
    query: {
      note: field(NoteType, { params })(({ note }) => note),
      sure: field(NoteType, { params, nullable: false })(({ note }) => note),
    },
    mutation: {
      change: mutation(t.string, { params: { ...params, unit: inUnit } })(({ note }) => {
        happened.push(`change ${note.id}`);
        return note.text;
      }),
      fail: mutation(t.nullable(t.string), {
        params: { note: authorized(() => Promise.reject<Note>(new Error("disk")), ownNotes) },
      })(() => "never"),
    },
  });
  const ask = async (query: string): Promise<any> => {
    const target = app();
    new Graph(build, { executor, auth: false }).mount(target);
    const as = await open(target);
    return (await as.post("/graphql", { body: { query } })).json();
  };

  it("is there for the resolver, and null with an error if it is refused or unknown", async () => {
    const { data, errors } = await ask(
      '{ own: note(id: "1") { text } other: note(id: "2") { text } none: note(id: "9") { text } }',
    );

    expect(data).toEqual({ own: { text: "milk" }, other: null, none: null });
    expect(errors).toHaveLength(2);
    const [other, none] = errors.map(({ message, extensions }: any) => [message, extensions.code, extensions.status]);
    expect(other).toEqual(none);
    expect(other[1]).toBe("NOT_FOUND");
    expect((await ask('{ sure(id: "2") { text } }')).data).toBeNull();
  });

  it("leaves the other fields of a mutation in place if it is refused", async () => {
    const { data, errors } = await ask('mutation { a: change(id: "1") b: change(id: "2") c: change(id: "1") }');

    expect(data).toEqual({ a: "milk", b: null, c: "milk" });
    expect(errors).toHaveLength(1);
    await expect
      .poll(() => happened)
      .toEqual([
        "load 1",
        "rule 1",
        "begin",
        "change 1",
        "load 2",
        "rule 2",
        "load 1",
        "rule 1",
        "change 1",
        "end: success",
      ]);
  });

  it("rolls a mutation back if it cannot be loaded", async () => {
    const { data, errors } = await ask('mutation { a: change(id: "1") fail }');

    expect(data).toEqual({ a: null, fail: null });
    expect(errors.map(({ extensions }: any) => extensions.code)).toContain("ROLLED_BACK");
    await expect.poll(() => happened.at(-1)).toBe("end: failure");
  });
});

describe("a declaration that cannot hold", () => {
  const note = authorized(() => findNote("1"), ownNotes);

  it.each<[string, () => unknown, RegExp]>([
    [
      "an unknown value",
      () =>
        app().get(
          "/notes/:id",
          { params: { note: authorized(({ pth }: any) => findNote(pth.id), ownNotes) } },
          () => "",
        ),
      /^GET \/notes\/:id: the parameter note loads its object by pth, which is not available here\. Did you mean "path"\? Its load function receives path, query, body, ctx, context$/,
    ],
    [
      "the arguments of a field on a route",
      () =>
        app().get("/notes", { params: { note: authorized(({ args }: any) => findNote(args.id), ownNotes) } }, () => ""),
      /loads its object by args, which is not available here/,
    ],
    [
      "a parameter under a name that is taken",
      () =>
        app().get(
          "/notes",
          { params: { note: authorized({ path: inUnit })(() => findNote("1"), ownNotes) } },
          () => "",
        ),
      /declares path, which its load function receives already/,
    ],
    [
      "a socket",
      () => app().socket("/live", { params: { note } as never }, () => {}),
      /^socket \/live: the parameter note is authorized/,
    ],
    [
      "a subscription",
      () =>
        subscription(t.string, { params: { note } })(async function* () {
          yield "";
        }),
      /the parameter note is authorized/,
    ],
    [
      "a dependency",
      () => app().get("/x", { params: { x: Depend(provide({ note: note as never })(() => 1)) } }, () => ""),
      /the parameter note is authorized/,
    ],
    [
      "no rule",
      () => authorized(() => findNote("1"), undefined as never),
      /^authorized: the rule must be a rule from rule\(\)/,
    ],
    [
      "no load function",
      () => authorized({})(1 as never, ownNotes as never),
      /^authorized: the load function must be a function/,
    ],
    ["an unknown option", () => authorized(() => findNote("1"), ownNotes, { stauts: 403 } as never), /stauts/],
    ["another status", () => authorized(() => findNote("1"), ownNotes, { status: 401 as never }), /403 or 404/],
    [
      "another may",
      () => authorized(() => findNote("1"), ownNotes, { may: true as never }),
      /^authorized\.may must be a rule/,
    ],
  ])("%s stops startup with a sentence", (_name, declare, sentence) => {
    expect(declare).toThrow(sentence);
  });
});
