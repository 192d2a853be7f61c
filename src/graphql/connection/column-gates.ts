import { ConfigurationError } from "../../core/configuration-error.ts";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import { decidesByCaller, type GateNode } from "../../kernel/access/gate-node.ts";
import {
  type ClientColumn,
  checkFilterType,
  clientColumns,
  hiddenColumn,
} from "../../pagination/strategies/client-columns.ts";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import type { ShownKind } from "../../pagination/strategies/shown-kind.ts";
import { passGate } from "../declare/fields/field-question.ts";

type Question = Parameters<typeof passGate>[1];

/** A field of the items, as far as it decides about columns. */
export interface ColumnField {
  readonly name: string;
  /** The columns that it is made of. */
  readonly columns: readonly string[];
  /** Whether it returns its only column as it is. The `reads` of a resolver say nothing about what it returns. */
  readonly isUnchanged: boolean;
  /** The kind of its values, if its type says so. */
  readonly shown: ShownKind | null;
  /** `null` if it is open. */
  readonly gate: GateNode | null;
}

/** The type of the items of a list. */
export interface ItemFields {
  readonly name: string;
  readonly fields: readonly ColumnField[];
}

/**
 * The gates of the columns that clients sort and filter by. The order of a list and the presence of a row both reveal the
 * value of a column, so a client may choose a column only if it may read it: an open field returns the column, or the caller
 * passes the gates of the fields that do. All of this follows from declarations, never from similar names.
 */
export class ColumnGates {
  readonly #byColumn = new Map<string, readonly GateNode[]>();

  /**
   * Throws a `ConfigurationError` that names `place` for a column that no field returns and that is not `public`, and for a
   * gate that needs a row to decide about.
   */
  constructor(place: string, items: ItemFields, strategy: CursorPagination<any, any>) {
    for (const entry of clientColumns(strategy)) {
      const fields = gatedFields(place, items, entry);
      const fault = fields.find(({ gate }) => !decidesByCaller(gate));
      if (fault !== undefined) throw needsObject(place, entry, `${items.name}.${fault.name}`);
      this.#byColumn.set(
        entry.column,
        fields.map(({ gate }) => gate),
      );
    }
  }

  /** Asks the gates of these columns, one after another. Throws or rejects with the first denial. */
  pass(columns: readonly string[], question: () => Question): MaybePromise<void> {
    const gates = new Set(columns.flatMap((column) => this.#byColumn.get(column) ?? []));
    return [...gates].reduce<MaybePromise<void>>(
      (before, gate) => andThen(before, () => passGate(gate, question())),
      undefined,
    );
  }
}

type GatedField = ColumnField & { readonly gate: GateNode };

/** Whether a field without a gate returns a column as it is, so that everyone who may see the items may know its values. */
export function isOpen(fields: readonly ColumnField[], column: string): boolean {
  return fields.some(({ columns, isUnchanged, gate }) => gate === null && isUnchanged && columns.includes(column));
}

/** The fields whose gates decide about a column; none if an open field returns it. */
function gatedFields(place: string, { name, fields }: ItemFields, entry: ClientColumn): readonly GatedField[] {
  const { column, isPublic } = entry;
  const reading = fields.filter(({ columns }) => columns.includes(column));
  const returning = reading.filter(({ isUnchanged }) => isUnchanged);
  for (const field of returning) checkFilterType(place, entry, `${name}.${field.name}`, field.shown);
  if (isOpen(returning, column)) return [];
  if (returning.length === 0 && !isPublic)
    throw hiddenColumn(
      place,
      entry,
      `no field of ${name} returns ${column} unchanged`,
      `return ${column} from a field without a resolver, whose gate then decides`,
    );
  // The word `public` is about columns that no field returns. It opens no gate.
  return (returning.length > 0 ? returning : reading).filter((field): field is GatedField => field.gate !== null);
}

function needsObject(place: string, { option, name, column }: ClientColumn, field: string): ConfigurationError {
  return new ConfigurationError(
    place,
    `is ${option} by ${name}, but the gate of ${field} needs an object to decide about, and there is none before the list is read: remove ${name} from ${option}, use a gate that decides about the caller alone, or return ${column} from a field without a gate`,
  );
}
