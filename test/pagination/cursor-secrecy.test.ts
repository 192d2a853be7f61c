import { connection, field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination, SyncDataHandler, SyncListDataHandler } from "portico/pagination";
import { logCatcher } from "portico/testing";
import { describe, expect, it } from "vitest";
import { bodyOf, bothWays, range, SECRET, serveOnce } from "./ways.ts";

type Value = string | number | bigint | Date;
interface Person {
  readonly id: number;
  readonly secret: Value;
}
const bytesOf = (cursor: string): Buffer => Buffer.from(cursor, "base64url");
const numberBytes = (value: number): string => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString("latin1");
};

/** How the key holds a value, and anything a person would recognise it by. */
function spellings(value: Value): readonly string[] {
  if (typeof value === "number") return [numberBytes(value), String(value)];
  if (value instanceof Date) return [numberBytes(value.getTime()), value.toISOString()];
  return [String(value), Buffer.from(String(value), "utf16le").toString("latin1")];
}

bothWays("a cursor", (serve) => {
  it.each<[kind: string, valueOf: (id: number) => Value]>([
    ["text", (id) => `EUR 9100${id}`],
    ["text that UTF-8 cannot hold", (id) => `EUR 9100${id}\ud800`],
    ["a number", (id) => 91_000.25 + id],
    ["a bigint", (id) => 9_100_000_000_000_000_000n + BigInt(id)],
    ["a date", (id) => new Date(Date.UTC(1990, 1, id))],
  ])("[PAG-16] does not reveal the values of its key, in the body or in a header: %s", async (_kind, valueOf) => {
    const people = range(1, 9).map((id): Person => ({ id, secret: valueOf(id) }));
    const log = logCatcher();
    const client = await serve(
      (app) =>
        app.get("/people", ({ response }) =>
          response.paginate(new Shown(people), { strategy: "cursor", sortField: "secret" } as never),
        ),
      { logger: log },
    );
    const second = bodyOf(await client.get("/people?page_size=4")).pagination as never as {
      readonly next_cursor: string;
    };

    const answer = await client.get(`/people?page_size=4&cursor=${second.next_cursor}`);
    const refused = await client.get(`/people?cursor=${second.next_cursor.slice(0, -2)}`);

    const { next_cursor, prev_cursor } = bodyOf(answer).pagination as never as Record<string, string>;
    const sent = [
      ...[second.next_cursor, next_cursor, prev_cursor].map((cursor) => bytesOf(cursor ?? "").toString("latin1")),
      ...[answer, refused].map((response) => response.text() + JSON.stringify(response.headers)),
      log.text,
    ].join("\n");
    expect(answer.headers["link"]).toContain(next_cursor);
    for (const { secret } of people) for (const spelling of spellings(secret)) expect(sent).not.toContain(spelling);
  });

  it("[PAG-16] does not reveal an offset", async () => {
    class Numbers extends SyncDataHandler<number> {
      getTotalItems = (): number => 1_000;
      getItems = (offset: number, limit: number): readonly number[] => range(offset, offset + limit - 1);
    }
    const client = await serve((app) =>
      app.get("/items", ({ response }) => response.paginate(new Numbers(), { strategy: "cursor" } as never)),
    );

    const { next_cursor } = bodyOf(await client.get("/items?page_size=37")).pagination as never as Record<
      string,
      string
    >;

    expect(bytesOf(next_cursor ?? "").toString("latin1")).not.toContain(numberBytes(37));
  });
});

/** Sends less than it sorts by. */
class Shown extends SyncListDataHandler<{ readonly id: number }> {
  readonly #people: readonly Person[];
  constructor(people: readonly Person[]) {
    super(people, { name: "people" });
    this.#people = people;
  }
  override getItemsAfter(...seek: Parameters<SyncListDataHandler<Person>["getItemsAfter"]>): readonly { id: number }[] {
    return super.getItemsAfter(...seek).map(({ id }) => ({ id }));
  }
  keyOf({ id }: { readonly id: number }): readonly [Value, number] {
    return [(this.#people.find((person) => person.id === id) as Person).secret, id];
  }
}

describe("the cursors of one list", () => {
  interface Row {
    readonly id: string;
    readonly name: string;
    readonly salary: number;
  }
  const PersonType: ObjectType<Row> = object("Person", {
    id: t.id,
    name: t.string,
    salary: field(t.nullable(t.int), { auth: true }),
  });
  const rows = range(1, 40).map((id): Row => ({ id: String(id), name: `Person ${id}`, salary: 91_234 + id }));
  const bySalary = new CursorPagination({ order: [["salary", "desc"]] });
  const cursorsOf = async (filter?: object, shown = rows): Promise<readonly Buffer[]> => {
    const staff = connection(
      PersonType,
      bySalary,
      filter === undefined ? {} : ({ cursorScope: filter } as never),
    )(() => shown);
    const client = await serveOnce((app) => new Graph(schema({ query: { staff } })).mount(app));
    const answer = await client.post("/graphql", { body: { query: "{ staff(first: 40) { edges { cursor } } }" } });
    const { data } = answer.json() as { data: { staff: { edges: readonly { cursor: string }[] } } };
    return data.staff.edges.map(({ cursor }) => bytesOf(cursor));
  };

  it("[PAG-16] do not reveal a gated column to an anonymous caller", async () => {
    const cursors = await cursorsOf();

    for (const { salary } of rows)
      for (const spelling of spellings(salary))
        expect(cursors.some((cursor) => cursor.toString("latin1").includes(spelling))).toBe(false);
  });

  it("have only their version and their key id in common", async () => {
    const cursors = await cursorsOf();

    const common = range(0, (cursors[0]?.length ?? 0) - 1).filter(
      (at) => new Set(cursors.map((cursor) => cursor[at])).size === 1,
    );

    expect(common).toEqual([0, 1]);
  });

  it("do not reveal their filter", async () => {
    const [open, again, closed] = [
      await cursorsOf({ status: "open" }),
      await cursorsOf({ status: "open" }),
      await cursorsOf({ status: "closed" }),
    ];

    expect(again).toEqual(open);
    const shared = open.flatMap((cursor, index) =>
      range(2, cursor.length - 1).filter((at) => cursor[at] === closed[index]?.[at]),
    );
    // By chance one byte in 256 is the same.
    expect(shared.length / open.length).toBeLessThan(2);
  });

  it("reveal the length of a value only in steps of 16 bytes", async () => {
    const client = await serveOnce((app) =>
      app.get("/items", ({ request, response }) => {
        const items = range(1, 2).map((id) => ({
          id,
          name: String(id).padEnd(Number(request.headers["x-length"]), "x"),
        }));
        return response.paginate(items, { strategy: "cursor", sortField: "name", defaultPageSize: 1 });
      }),
    );

    const lengths: number[] = [];
    for (const length of range(1, 48)) {
      const answer = await client.get("/items", { headers: { "x-length": String(length) } });
      lengths.push(bytesOf((bodyOf(answer).pagination as never as { next_cursor: string }).next_cursor).length);
    }

    expect(new Set(lengths).size).toBeLessThanOrEqual(4);
    expect(lengths.every((length) => (length - 2 - 12 - 16) % 16 === 0)).toBe(true);
  });

  it("are equal for equal positions, in every process that has the key", async () => {
    expect(await cursorsOf()).toEqual(await cursorsOf());
  });
});

describe("opening a cursor", () => {
  it("takes time in proportion to its length", async () => {
    const { openCursor, sealCursor } = await import("../../src/pagination/cursor/seal-cursor.ts");
    const { CursorKeys } = await import("../../src/pagination/cursor/cursor-keys.ts");
    const seal = { keys: new CursorKeys([SECRET]), scope: Buffer.alloc(8), parameter: "cursor", now: 0 };
    const cursorOf = (length: number): string =>
      sealCursor({ direction: "forward", at: { key: ["x".repeat(length)] } }, seal);
    const forged = (cursor: string): string => `${cursor.slice(0, -4)}AAAA`;
    const attempt = (cursor: string) => (): void => {
      try {
        openCursor(cursor, seal);
      } catch {
        // A forged one is refused.
      }
    };
    const half = cursorOf(700);
    const whole = cursorOf(1_450);
    expect(whole.length).toBeGreaterThan(2 * half.length - 100);

    for (const change of [(cursor: string) => cursor, forged]) {
      const [short, long] = cheapest([attempt(change(half)), attempt(change(whole))]);
      expect(long / short).toBeLessThan(2);
      expect(long).toBeLessThan(20_000);
    }
  });
});

/** CPU time of one call in microseconds, the best of several rounds, measured in turns. */
function cheapest(calls: readonly [() => void, () => void]): [number, number] {
  const best: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 10; round++)
    for (const [index, call] of calls.entries()) {
      const start = process.cpuUsage();
      for (let time = 0; time < 200; time++) call();
      const { user, system } = process.cpuUsage(start);
      best[index as 0 | 1] = Math.min(best[index as 0 | 1], (user + system) / 200);
    }
  return best;
}
