import { type GraphQLNamedType, isEnumType } from "graphql";
import { marked, type Tenant } from "./marks.ts";
import type { Random } from "./random.ts";
import { idsOf } from "./seed.ts";

type Ids = ReturnType<typeof idsOf>;
type Kind = keyof Ids;

/** The table that an argument or a field names. */
const KINDS: Readonly<Record<string, Kind>> = {
  organisation: "organisations",
  person: "people",
  project: "projects",
  renameProject: "projects",
  renameProjects: "projects",
  issue: "issues",
  issuesById: "issues",
  editIssue: "issues",
  deleteIssue: "issues",
  moveIssue: "issues",
  assignIssue: "issues",
  comment: "comments",
  editComment: "comments",
  label: "labels",
};
const ALL: readonly Kind[] = ["organisations", "people", "projects", "issues", "comments", "labels"];
const SORTS = ["title", "name", "created_at", "estimate", "id", "organisation_id"];

/** The values of arguments: ids of the own tenant, of others and of no row, and cursors of all lists and callers. */
export class GeneratedValues {
  readonly #random: Random;
  readonly #ids: Readonly<Record<Tenant, Ids>>;
  readonly #cursors = new Map<string, string[]>();
  #written = 0;

  constructor(random: Random) {
    this.#random = random;
    this.#ids = { A: idsOf("A"), B: idsOf("B"), C: idsOf("C"), N: idsOf("N") };
  }

  /** Keeps the cursors of a response by the field or the route of their list, for later operations of all callers. */
  keepCursors(list: string, response: unknown): void {
    if (typeof response !== "object" || response === null) return;
    for (const [key, value] of Object.entries(response)) {
      if (/cursor$/i.test(key) && typeof value === "string") this.#keep(list, value);
      // A field has its name in its alias.
      else this.keepCursors(/^(\w+)_\d+$/.exec(key)?.[1] ?? list, value);
    }
  }

  #keep(list: string, cursor: string): void {
    const kept = this.#cursors.get(list) ?? [];
    kept.push(cursor);
    this.#cursors.set(list, kept.slice(-200));
  }

  /** A cursor of the list, of another list, or an invalid one. */
  cursor(list: string): string {
    const random = this.#random;
    const own = this.#cursors.get(list);
    const others = [...this.#cursors.values()].flat();
    const from = random.chance(0.75) ? own : others;
    return from === undefined || from.length === 0 ? "bm90IGEgY3Vyc29y" : random.pick(from);
  }

  /** An id for an argument of a field. */
  id(field: string, argument: string): string {
    const random = this.#random;
    const kind = random.chance(0.08) ? random.pick(ALL) : (KINDS[argument] ?? KINDS[field] ?? random.pick(ALL));
    const tenant = random.weighted<Tenant | "X">([
      [66, "A"],
      [21, "B"],
      [3, "C"],
      [4, "N"],
      [6, "X"],
    ]);
    return tenant === "X" ? marked("X", random.below(10_000)) : random.pick(this.#ids[tenant][kind]);
  }

  /** A text to write. It names A, so that it is found where it must not be. */
  text(): string {
    return `written ${marked("A", 50_000 + (this.#written++ % 40_000))}`;
  }

  count(): number {
    return this.#random.weighted([
      [1, 0],
      [4, 1],
      [8, 2 + this.#random.below(4)],
      [1, 40],
      [0.2, -1],
    ]);
  }

  /** Columns of the route's parameter `sort`, not all of which a list can be sorted by. */
  sorting(): string[] {
    return [`${this.#random.chance(0.5) ? "-" : ""}${this.#random.pick(SORTS)}`];
  }

  /** Values of the argument `sort`, mostly of its enum. */
  orders(type: GraphQLNamedType): string[] {
    const random = this.#random;
    const values = isEnumType(type) && random.chance(0.9) ? type.getValues().map(({ name }) => name) : ["SECRET_ASC"];
    return Array.from({ length: 1 + random.below(2) }, () => random.pick(values));
  }
}
