import type { FieldDeclaration } from "./field-declaration.ts";
import { ResolverError } from "./resolver-error.ts";

/** Rejects a field that redeclares `inherited`, a field of `owner`, without one of its gates. */
export function checkKeepsGates(
  place: string,
  field: FieldDeclaration | null,
  owner: string,
  inherited: FieldDeclaration | null,
): void {
  const dropped = droppedGates(field, inherited);
  if (dropped.length > 0)
    throw new ResolverError(
      place,
      `redeclares a field of ${owner} without its gate. Declare it with the same ${[...new Set(dropped)].join(" and ")}, or do not redeclare it`,
    );
}

/** The options that guard `inherited` and do not guard `field`. */
export function droppedGates(field: FieldDeclaration | null, inherited: FieldDeclaration | null): readonly string[] {
  const kept = new Set(guardsOf(field).map(([, guard]) => guard));
  return guardsOf(inherited).flatMap(([option, guard]) => (kept.has(guard) ? [] : [option]));
}

const SIGNED_IN = Symbol("signed in");

/** The gates and the limit of a field with the values that identify them. A function in `auth` also requires a user. */
function guardsOf(field: FieldDeclaration | null): readonly (readonly [option: string, guard: unknown])[] {
  if (field === null) return [];
  const { gates, options } = field;
  return [
    ...gates.flatMap((gate): [string, unknown][] => {
      if (gate.kind === "permission") return [["permissionClasses", gate.entry]];
      return [["auth", SIGNED_IN], ...(gate.kind === "signed-in" ? [] : [["auth", gate.decide] as [string, unknown]])];
    }),
    ...(options.limit === undefined ? [] : [["limit", options.limit] as const]),
  ];
}
