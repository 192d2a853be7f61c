import * as fc from "fast-check";
import { SimpleUser } from "../../src/auth/index.ts";
import { allOf, type Condition } from "../../src/pagination/conditions/condition.ts";
import { type Database, type TableHandler, tableHandler } from "../../src/sql/index.ts";
import { readsTable } from "./expected-guard.ts";
import { type GuardCase, type GuardRow, type GuardTable, guardCase, guardTables } from "./guard-case.ts";
import { type GuardedEngineName, type GuardPlace, loadRows, openGuardPlace } from "./guard-place.ts";
import { PolicyVoice } from "./policy-voice.ts";

const verbs = ["read", "insert", "update", "delete"] as const;
type Verb = (typeof verbs)[number];

/** A way to decide whether a user may do something with a row. `null` if it cannot tell. */
type Voice = (user: SimpleUser, table: GuardTable, row: GuardRow, verb: Verb) => Promise<boolean | null>;

export interface TriplesReport {
  /** How many triples were allowed and denied, by verb. */
  readonly counts: Readonly<Record<string, number>>;
  readonly compared: number;
  /** The triples about which the voices disagree. */
  readonly wrong: readonly string[];
}

/**
 * Asks about generated triples of a user, a row and a verb: `allows` in JavaScript, a list with `where`, a statement through
 * the guard, and on PostgreSQL one under its policies alone. All must agree.
 */
export async function checkTriples(
  name: GuardedEngineName,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<TriplesReport> {
  const place = await openGuardPlace(name);
  const policies = name === "PostgreSQL" ? await PolicyVoice.of(place) : null;
  const voices = voicesOf(place, policies);
  const all = place.guarded.asSystem("the generator of rows");
  const [cases] = fc.sample(fc.infiniteStream(guardCase), { numRuns: 1, seed });
  const counts = new Map<string, number>();
  const wrong: string[] = [];
  let compared = 0;
  try {
    for (const one of cases as Iterable<GuardCase>) {
      place.current.of = one;
      await loadRows(all, one.data, guardTables);
      await policies?.apply();
      for (const [user, table, row, verb] of triplesOf(one.data)) {
        if (compared === count) return { counts: Object.fromEntries(counts), compared, wrong };
        const found: Record<string, boolean | null> = {};
        for (const [voice, ask] of Object.entries(voices)) found[voice] = await ask(user, table, row, verb);
        const what = `${verb} ${found["allows"] === true ? "allowed" : "denied"}`;
        counts.set(what, (counts.get(what) ?? 0) + 1);
        compared++;
        if (new Set(Object.values(found).filter((one) => one !== null)).size > 1)
          wrong.push(JSON.stringify({ found, user: user.identity, verb, table, row, case: one }));
      }
    }
    throw new Error("there are no more cases");
  } finally {
    await place.close();
    await policies?.close();
  }
}

/** Some of all triples, so that many rules are tried. */
function* triplesOf(
  data: Readonly<Record<GuardTable, readonly GuardRow[]>>,
): Iterable<readonly [SimpleUser, GuardTable, GuardRow, Verb]> {
  for (const table of guardTables)
    for (const [at, row] of data[table].slice(0, 4).entries())
      for (const caller of [0, 2])
        for (const verb of [verbs[at % 4], verbs[(at + 1 + caller / 2) % 4]] as Verb[]) {
          // An inserted row has a new key.
          const given = verb === "insert" ? { ...row, id: row.id + 100 } : row;
          if (table !== "c" || at === 0) yield [new SimpleUser(String(caller)), table, given, verb];
        }
}

function voicesOf(place: GuardPlace, policies: PolicyVoice | null): Readonly<Record<string, Voice>> {
  const all = place.guarded.asSystem("the rows of a list with a condition");
  const rulesFor = (table: GuardTable, verb: Verb) => {
    const which = verb === "read" ? (["read"] as const) : (["read", "write"] as const);
    return table === "c" ? [] : which.map((one) => place.ruleOf(table, one));
  };
  return {
    async allows(user, table, row, verb) {
      for (const rule of rulesFor(table, verb)) if (!(await rule.allows(user, row, {} as never))) return false;
      return true;
    },
    async where(user, table, row, verb) {
      const condition = allOf(rulesFor(table, verb).map((rule) => rule.where?.(user) as Condition));
      if (verb !== "insert") return listed(all, condition, table, row);
      // A list has only rows that exist, and a row must not justify itself.
      const { read, write } = place.current.of as GuardCase;
      if ([read[table], write[table]].some((one) => one !== undefined && readsTable(one, table))) return null;
      return undone(all.begin(), async (trx) => {
        await trx.insertInto(table).values(row).execute();
        return listed(trx, condition, table, row);
      });
    },
    guard: (user, table, row, verb) => executed(place.guarded.as(user).begin(), table, row, verb),
    ...(policies && {
      policy: (user: SimpleUser, ...rest: [GuardTable, GuardRow, Verb]) => executed(policies.begin(user), ...rest),
    }),
  };
}

/** Whether a list with a condition has the row. */
async function listed(db: Database, condition: Condition, table: GuardTable, row: GuardRow): Promise<boolean> {
  const list = tableHandler(db.selectFrom(table).selectAll(), { uniqueKey: ["id"] }) as TableHandler<GuardRow, string>;
  return has(await list.scopedTo(condition).getItems(0, 100), row);
}

/** Whether a statement finds the row, or changes it. */
function executed(
  begun: ReturnType<Database["begin"]>,
  table: GuardTable,
  row: GuardRow,
  verb: Verb,
): Promise<boolean> {
  return undone(begun, async (trx) => {
    switch (verb) {
      case "read":
        return has(await trx.selectFrom(table).select("id").execute(), row);
      case "insert":
        return (await trx.insertInto(table).values(row).executeTakeFirst()).numInsertedOrUpdatedRows === 1n;
      case "update":
        // No rule depends on the key.
        return (
          (await trx.updateTable(table).set({ id: row.id }).where("id", "=", row.id).executeTakeFirst())
            .numUpdatedRows === 1n
        );
      case "delete":
        return (await trx.deleteFrom(table).where("id", "=", row.id).executeTakeFirst()).numDeletedRows === 1n;
    }
  });
}

function has(rows: readonly { readonly id: number }[], { id }: GuardRow): boolean {
  return rows.some((row) => row.id === id);
}

/** Works in a transaction that is rolled back. A refusal is a denial. */
async function undone(
  begun: ReturnType<Database["begin"]>,
  work: (trx: Database) => Promise<boolean>,
): Promise<boolean> {
  const trx = await begun;
  try {
    return await work(trx);
  } catch (error) {
    const { status, code } = error as { readonly status?: number; readonly code?: string };
    // The second is that of a policy.
    if (status === 403 || code === "42501") return false;
    throw error;
  } finally {
    await trx.end("failure");
  }
}
