import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EngineName, openEngine } from "../servers/engines.ts";
import { expectedIds } from "./expected-ids.ts";
import { generateLists, type ListDeclaration } from "./list-declaration.ts";
import { createTables, generateTables, type ListRow, parents } from "./list-rows.ts";
import { type OpenSource, throughKysely } from "./list-source.ts";
import { ALONE, walkList } from "./walk-list.ts";

/** A list whose pages differ from its rows in order. */
export interface WrongList {
  readonly number: number;
  readonly list: ListDeclaration;
  readonly reason: string;
}

/**
 * Generates lists, pages through each of them forward and backward, and returns those that did not return every row
 * once, in order.
 */
export async function checkLists(
  name: EngineName,
  { count, seed }: { readonly count: number; readonly seed: number },
  openSource: OpenSource = throughKysely(),
): Promise<readonly WrongList[]> {
  const schema = `portico_lists_${randomUUID().slice(0, 8)}`;
  const engine = await openEngine(name, schema, join(tmpdir(), `${schema}.sqlite`));
  const source = openSource(engine);
  try {
    const tables = generateTables(seed);
    await createTables(engine, tables);
    const wrong: WrongList[] = [];
    for (const [number, list] of generateLists(count, seed).entries()) {
      const rows = tables[list.table] as readonly ListRow[];
      const groups: readonly (readonly [number, readonly ListRow[]])[] = list.isNested
        ? parents.map((parent) => [parent, rows.filter((row) => row.parent === parent)])
        : [[ALONE, rows]];
      const expected = new Map(groups.map(([group, members]) => [group, expectedIds(name, list, members)]));
      const reason = await walkList(list, source).then(
        ({ forward, backward }) =>
          difference("forward", forward, expected) ?? difference("backward", backward, expected),
        (error: unknown) => String(error),
      );
      if (reason !== null) wrong.push({ number, list, reason });
    }
    return wrong;
  } finally {
    await source.close();
    await engine.close();
  }
}

function difference(
  way: string,
  seen: ReadonlyMap<number, readonly number[]>,
  expected: ReadonlyMap<number, readonly number[]>,
): string | null {
  const [left, right] = [seen, expected].map((ids) => JSON.stringify([...ids]));
  return left === right ? null : `${way}: ${left} instead of ${right}`;
}
