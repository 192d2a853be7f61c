import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { Depend, PorticoApp, provide } from "portico";
import { field, Graph, mutation, schema, t } from "portico/graphql";
import type { Database, PorticoTables, Transaction } from "portico/sql";
import { liveClient, testClient } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { engineNames, newPlace, type Place } from "../accounts/databases.ts";

interface Tables extends PorticoTables {
  books: { title: string };
}

interface Line {
  readonly level: number;
  readonly msg: string;
}

describe.each(engineNames)("a transaction that is left open on %s", (engine) => {
  let place: Place;
  let database: Database<Tables>;
  let lines: Line[];
  beforeAll(async () => {
    place = await newPlace(engine);
    // One transaction at a time: one that stays open would be noticed.
    database = place.open<Tables>({ poolSize: 2, timeoutSeconds: 2 });
    await sql`create table books (title text not null)`.execute(database);
  });
  beforeEach(async () => {
    lines = [];
    await database.deleteFrom("books").execute();
  });
  afterAll(() => place?.remove());

  const build = (): PorticoApp =>
    new PorticoApp({
      logger: { level: "error", stream: { write: (line) => void lines.push(JSON.parse(line) as Line) } },
    });
  const complaints = () => lines.map(({ msg }) => msg).filter((msg) => msg.startsWith("A transaction of"));
  const sentence = (route: string) =>
    `A transaction of ${route} was still open when the request ended, and was rolled back: commit it or roll it back, also when an error is thrown`;
  const write = async (title: string): Promise<Transaction<Tables>> => {
    const trx = await database.begin();
    await trx.insertInto("books").values({ title }).execute();
    return trx;
  };
  const titles = async (): Promise<string[]> =>
    (await database.selectFrom("books").select("title").orderBy("title").execute()).map(({ title }) => title);

  it("is rolled back, and no response claims that anything was saved", async () => {
    const app = build();
    app.post("/books/:title", async ({ path }) => {
      await write(path.title);
      return "saved";
    });
    const client = testClient(app);

    for (const title of ["Emma", "Persuasion", "Sanditon"])
      expect((await client.post(`/books/${title}`)).status).toBe(500);

    expect(complaints()).toEqual(Array.from({ length: 3 }, () => sentence("POST /books/:title")));
    expect(await titles()).toEqual([]);
  });

  it("is reported together with the error that prevented its end", async () => {
    const app = build();
    app.post("/books", async () => {
      await write("Emma");
      throw new Error("out of paper");
    });

    const answer = await testClient(app).post("/books");

    expect(answer.status).toBe(500);
    expect(lines.map(({ msg }) => msg)).toEqual([sentence("POST /books"), "out of paper"]);
    expect(await titles()).toEqual([]);
  });

  it("is not reported if a dependency, a middleware or the handler ends it, however long they take", async () => {
    const unitOfWork = provide(async function* ({ ctx }) {
      const trx = await database.begin();
      try {
        yield trx;
      } finally {
        await sleep(20);
        await trx.end(ctx.outcome);
      }
    });
    const app = build();
    app.post("/dependency", { params: { trx: Depend(unitOfWork) } }, async ({ trx }) => {
      await trx.insertInto("books").values({ title: "dependency" }).execute();
    });
    const around = async (_ctx: unknown, next: () => Promise<void>): Promise<void> => {
      const trx = await write("middleware");
      await next();
      await sleep(20);
      await trx.end("success");
    };
    app.post("/middleware", { middleware: [around] }, () => "saved");
    app.post("/handler", async () => {
      const trx = await write("handler");
      void trx.end("success");
      return "saved";
    });
    app.post("/background", async () => {
      void database.transaction().execute(async (trx) => {
        await sleep(50);
        await trx.insertInto("books").values({ title: "background" }).execute();
      });
      return "begun";
    });
    const client = testClient(app);

    for (const path of ["/dependency", "/middleware", "/handler", "/background"])
      expect((await client.post(path)).status).toBeLessThan(300);

    await expect.poll(titles).toEqual(["background", "dependency", "handler", "middleware"]);
    expect(complaints()).toEqual([]);
  });

  it("cannot be committed later", async () => {
    const app = build();
    let later: Promise<unknown> | undefined;
    app.post("/books", async () => {
      const trx = await write("Emma");
      later = sleep(200).then(() => trx.end("success"));
      later.catch(() => {});
      return "saved";
    });

    const { status } = await testClient(app).post("/books");

    expect(status).toBe(500);
    await expect(later).rejects.toThrow(sentence("POST /books"));
    expect(await titles()).toEqual([]);
  });

  it("is also rolled back if it starts after the end of its request", async () => {
    const app = build();
    let begun: Promise<unknown> | undefined;
    app.post("/books", () => {
      begun = write("Emma");
      begun.catch(() => {});
      return "saved";
    });
    const before = await write("Persuasion");

    const { status } = await testClient(app).post("/books");
    await before.end("success");

    const late =
      "A transaction of POST /books had not started when the request ended, so it will be rolled back: await begin()";
    expect(status).toBe(500);
    await expect(begun).rejects.toThrow(late);
    expect(complaints()).toEqual([late]);
    await (await write("Sanditon")).end("success");
    expect(await titles()).toEqual(["Persuasion", "Sanditon"]);
  });

  it("lives exactly as long as a streamed response that reads with it", async () => {
    const app = build();
    const rows = async function* (isEnding: boolean): AsyncGenerator<string> {
      const trx = await write(isEnding ? "ended" : "left");
      yield "one\n";
      await sleep(20);
      const { length } = await trx.selectFrom("books").selectAll().execute();
      yield `${length}\n`;
      if (isEnding) await trx.end("success");
    };
    for (const name of ["ended", "left"])
      app.get(`/${name}`, ({ response }) => response.stream(Readable.from(rows(name === "ended"))));
    const client = await liveClient(app);

    const bodies = [(await client.get("/ended")).text(), (await client.get("/left")).text()];
    await expect.poll(complaints).toEqual([sentence("GET /left")]);

    expect(bodies).toEqual(["one\n1\n", "one\n2\n"]);
    expect(await titles()).toEqual(["ended"]);
    await client.close();
  });

  it("fails only the operation of a batch that left it open, or the request of a single one", async () => {
    const app = build();
    const save = mutation(t.string, { params: { title: t.string, ends: t.boolean } })(async ({ title, ends }) => {
      const trx = await write(title);
      if (ends) await trx.end("success");
      return title;
    });
    new Graph(schema({ query: { one: field(t.int)(() => 1) }, mutation: { save } })).mount(app);
    const client = testClient(app);
    const document = (title: string, ends: boolean) => ({
      query: `mutation { save(title: "${title}", ends: ${ends}) }`,
    });

    const batch = await client.post("/graphql", { body: [document("left", false), document("ended", true)] });
    const single = await client.post("/graphql", { body: document("left", false) });

    expect(batch.json()).toMatchObject([{ data: null, errors: [{}] }, { data: { save: "ended" } }]);
    expect(single.status).toBe(500);
    expect(await titles()).toEqual(["ended"]);
    expect(JSON.stringify(lines)).toContain(sentence("POST /graphql"));
  });
});
