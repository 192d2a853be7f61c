import type { AccessRow } from "./access-table.ts";

/** The counts of some places. */
export interface AccessCounts {
  readonly places: number;
  readonly open: number;
  /** The places that are open to anyone and change something. */
  readonly openWrites: number;
}

/** The most important facts about an application, for the top of every form of the table. */
export interface AccessSummary {
  readonly all: AccessCounts;
  readonly own: AccessCounts;
  readonly builtIn: AccessCounts;
  /** The own places that are open to anyone. */
  readonly openPlaces: readonly string[];
  readonly openWrites: readonly string[];
  /** The own places where every signed-in user changes something. */
  readonly signedInWrites: readonly string[];
  /** The other own places that change something: a permission or a rule decides. */
  readonly gatedWrites: readonly string[];
}

export function accessSummary(rows: readonly AccessRow[]): AccessSummary {
  const own = rows.filter(({ isBuiltIn }) => !isBuiltIn);
  const gated = own.filter((row) => row.isWrite && !isOpen(row));
  return {
    all: counted(rows),
    own: counted(own),
    builtIn: counted(rows.filter(({ isBuiltIn }) => isBuiltIn)),
    openPlaces: named(own.filter(isOpen)),
    openWrites: named(own.filter((row) => isOpen(row) && row.isWrite)),
    signedInWrites: named(gated.filter(({ signedIn }) => signedIn === "yes")),
    gatedWrites: named(gated.filter(({ signedIn }) => signedIn !== "yes")),
  };
}

function named(rows: readonly AccessRow[]): readonly string[] {
  return rows.map(({ place }) => place);
}

/** A list and a type have the gate of the field or the route that returns them, too. */
export function isOpen({ kind, anonymous }: AccessRow): boolean {
  return kind !== "list" && kind !== "type" && anonymous === "yes";
}

/** `45 places open to anyone, 3 of them write`. */
export function countsText({ places, open, openWrites }: AccessCounts): string {
  const write = openWrites === 1 ? "writes" : "write";
  return `${places} places, ${open} open to anyone${open === 0 ? "" : `, ${openWrites} of them ${write}`}`;
}

function counted(rows: readonly AccessRow[]): AccessCounts {
  const open = rows.filter(isOpen);
  return { places: rows.length, open: open.length, openWrites: open.filter(({ isWrite }) => isWrite).length };
}

/** The place with its kind, where the place doesn't name it. */
export function placeText({ kind, place }: AccessRow): string {
  return ["type", "list", "object", "system"].includes(kind) ? `${kind} ${place}` : place;
}

/** A result for people: the sentence of the rule instead of its condition. */
export function resultText(text: string, { says }: AccessRow): string {
  return says === null || ["yes", "no", "depends", "-"].includes(text) ? text : says;
}
