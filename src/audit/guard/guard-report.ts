import { isInstance } from "../../core/describe-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { Database } from "../../sql/database/database.ts";
import { asPortico } from "../../sql/guard/acting-handles.ts";
import { guardOfHandle } from "../../sql/guard/guarded-dialect.ts";
import { readReferences } from "../../sql/guard/read-references.ts";
import type { AccessWarning } from "../surface/warnings-of.ts";
import type { AccessRow } from "../table/access-table.ts";
import { crossings } from "./crossings.ts";

/** The findings of the audit about the guard of a database. */
export interface GuardReport {
  /** The reasons of the handles without rules that have been made so far. */
  readonly rows: readonly AccessRow[];
  readonly warnings: readonly AccessWarning[];
  /** A sentence about what could not be checked; `null` if everything was. */
  readonly gap: string | null;
}

const NOTHING: GuardReport = { rows: [], warnings: [], gap: null };

/** Reports the handles without rules, and the keys and indexes that cross tenants. A database without a guard has neither. */
export async function guardReport(database: unknown): Promise<GuardReport> {
  if (typeof (database as Partial<Database> | undefined)?.getExecutor !== "function") return NOTHING;
  const guarded = database as Database;
  const guard = guardOfHandle(guarded);
  if (guard === null) return NOTHING;
  const rows = [...guard.reasons].map(
    (place): AccessRow => ({
      kind: "system",
      place,
      isBuiltIn: false,
      isWrite: false,
      gate: "no rules",
      says: null,
      anonymous: "-",
      signedIn: "-",
      grants: [],
      roles: {},
    }),
  );
  const sorted = rows.toSorted((a, b) => (a.place < b.place ? -1 : 1));
  try {
    const { references, indexes } = await readReferences(asPortico(guarded), guarded.engine);
    return { rows: sorted, warnings: crossings(guard.tenantColumns(), references, indexes), gap: null };
  } catch (error) {
    if (!isInstance(error, PorticoError) || error.code !== "SERVICE_UNAVAILABLE") throw error;
    // The rest of the table is about the application, and a gate may run where there is no database.
    const gap = `${error.message}, so foreign keys and unique indexes that cross tenants were not looked for`;
    return { rows: sorted, warnings: [], gap };
  }
}
