import type { GuardData, GuardRow, GuardTable, GuardWrite } from "./guard-case.ts";

type Allows = (table: GuardTable, row: GuardRow) => boolean;

/** The tables after a write, or `"refused"`. */
export function expectedWrite(
  w: GuardWrite,
  data: GuardData,
  canRead: Allows,
  canWrite: Allows,
  isInCte: boolean,
): GuardData | "refused" {
  const before = data[w.table];
  const visible = data[w.other].filter((row) => canRead(w.other, row));
  const after = (rows: readonly GuardRow[], written: readonly GuardRow[]): GuardData | "refused" =>
    written.every((row) => canWrite(w.table, row)) ? { ...data, [w.table]: rows } : "refused";
  const matches = matching(w, visible);
  switch (w.kind) {
    case "insert":
    case "insert select": {
      const added = (w.kind === "insert" ? w.rows : visible).map((row) => ({ ...row, id: row.id + 100 }));
      return after([...before, ...added], added);
    }
    case "upsert": {
      const added = w.rows.filter(({ id }) => !before.some((row) => row.id === id));
      const changed = new Map<GuardRow, GuardRow>();
      for (const row of w.rows)
        for (const old of before)
          if (old.id === row.id && canWrite(w.table, old)) changed.set(old, { ...old, [w.set]: row[w.set] });
      if (added.length + changed.size === 0 && !isInCte) return "refused";
      return after([...before.map((row) => changed.get(row) ?? row), ...added], [...added, ...changed.values()]);
    }
    case "update":
    case "update from":
    case "delete":
    case "delete using": {
      const hit = before.filter((row) => matches(row) && canWrite(w.table, row));
      // A caller who can read a row that the write means gets an error instead of a count of 0.
      if (hit.length === 0)
        return !isInCte && before.some((row) => matches(row) && canRead(w.table, row)) ? "refused" : data;
      if (w.kind.startsWith("delete")) return { ...data, [w.table]: before.filter((row) => !hit.includes(row)) };
      const changed = new Map(hit.map((row) => [row, { ...row, [w.set]: w.to }]));
      return after(
        before.map((row) => changed.get(row) ?? row),
        [...changed.values()],
      );
    }
  }
}

function matching(w: GuardWrite, visible: readonly GuardRow[]): (row: GuardRow) => boolean {
  if (w.kind === "update") return (row) => row[w.by] !== null && (row[w.by] as number) <= w.value;
  if (w.kind === "delete") return (row) => row[w.by] === w.value || row.id === 1;
  return (row) => visible.some((other) => other[w.by] !== null && other[w.by] === row[w.by]);
}
