import { ConfigurationError } from "../../core/configuration-error.ts";
import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import { allGates, decidesByCaller, type GateNode } from "../../http/access/gate-node.ts";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import { isDeclaration } from "../fields/field-declaration.ts";
import { passGate } from "../fields/field-question.ts";
import { TypeNames } from "../schema/type-names.ts";
import type { ObjectNode } from "../types/type-node.ts";

/** A name that a client sorts or filters by. */
interface NamedColumn {
  readonly name: string;
  readonly column: string;
}
type Question = Parameters<typeof passGate>[1];

/** A field with a gate, and all names that it is known by. */
export interface GatedField {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly gate: GateNode;
}

/**
 * The gates of the columns that clients sort and filter by. The order of a list and the presence of a row both reveal the
 * value of a column, so the gate of its field decides first.
 */
export class ColumnGates {
  readonly #byColumn = new Map<string, readonly GateNode[]>();

  /** Throws a `ConfigurationError` that names `place` if a gate needs a row to decide about. */
  constructor(
    place: string,
    type: { readonly name: string; readonly gated: readonly GatedField[] },
    { sort, filters }: CursorPagination<any, any>,
  ) {
    const sorted = [...(sort?.columns ?? [])].map(([name, column]) => ({ name, column }));
    for (const [option, columns] of [
      ["sortable", sorted] as const,
      ["filterable", [...(filters?.values() ?? [])]] as const,
    ])
      for (const { name, column } of columns) {
        const fields = fieldsOf(type.gated, { name, column });
        const fault = fields.find(({ gate }) => !decidesByCaller(gate));
        if (fault !== undefined)
          throw new ConfigurationError(
            place,
            `is ${option} by ${name}, but the gate of ${type.name}.${fault.name} needs an object to decide about, and there is none before the list is read: remove ${name} from ${option}, or use a gate that decides about the caller alone`,
          );
        this.#byColumn.set(column, [...(this.#byColumn.get(column) ?? []), ...fields.map(({ gate }) => gate)]);
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

/**
 * The fields of a column: those with the name of the sort or filter, or with the name of the column. Case and underscores
 * make no difference: `cost_cents` and `costCents`.
 */
function fieldsOf(gated: readonly GatedField[], { name, column }: NamedColumn): readonly GatedField[] {
  const wanted = new Set([name, column].map(plain));
  return gated.filter(({ aliases }) => aliases.some((one) => wanted.has(plain(one))));
}

/** Returns the fields of a declared type that have a gate. */
export function gatedFields(node: ObjectNode): readonly GatedField[] {
  return Object.entries(new TypeNames().fieldsOf(node)).flatMap(([key, member]) => {
    const gate = isDeclaration(member) ? allGates(member.gates) : null;
    if (!isDeclaration(member) || gate === null) return [];
    const name = member.options.name ?? key;
    return [{ name, aliases: [name, key, member.member ?? key], gate }];
  });
}

const plain = (name: string): string => name.replaceAll("_", "").toLowerCase();
