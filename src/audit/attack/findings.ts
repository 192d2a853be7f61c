import type { Target } from "../targets/target.ts";
import type { AttackDifference, AttackReport, Transport, Unreached } from "./attack-report.ts";
import type { Expected } from "./expected.ts";
import type { Outcome } from "./outcome.ts";

/** The result of one request, and what the declaration says. */
export interface Cell {
  readonly target: Target;
  readonly transport: Transport;
  readonly identity: string;
  readonly expected: Expected;
  readonly outcome: Outcome;
}

/** Collects results, and compares them with the declaration. */
export class Findings {
  readonly #differences: AttackDifference[] = [];
  readonly #unreached = new Map<string, { cells: number; readonly places: Set<string> }>();
  /** The results of places that the declaration leaves open, by place and identity. */
  readonly #open = new Map<string, Cell[]>();
  #tried = 0;

  add(cell: Cell): void {
    const { target, identity, expected, outcome } = cell;
    const { verdict, found } = outcome;
    if (verdict === "not offered") return;
    const isNothing = verdict === "absent" && expected.answer === "let in";
    if (verdict === "undecided") return this.unreached(target, found, 1);
    if (isNothing) return this.unreached(target, found === "no data" ? lackOf(target) : found, 1);
    this.#tried++;
    if (expected.answer === "depends") {
      const key = `${target.place} ${target.guardedAt ?? ""} ${identity}`;
      this.#open.set(key, [...(this.#open.get(key) ?? []), cell]);
    } else if (verdict !== "absent" && verdict !== expected.answer) this.#differ(cell, expected.answer);
  }

  /** Counts requests that prove nothing. */
  unreached({ place }: Target, reason: string, cells: number): void {
    const group = this.#unreached.get(reason) ?? { cells: 0, places: new Set() };
    group.cells += cells;
    group.places.add(place);
    this.#unreached.set(reason, group);
  }

  report(targets: readonly Target[], notes: readonly string[], gaps: readonly string[]): AttackReport {
    for (const cells of this.#open.values()) this.#compare(cells);
    this.#open.clear();
    return {
      places: new Set(targets.map(({ place }) => place)).size,
      tried: this.#tried,
      differences: this.#differences.toSorted((a, b) => (a.sentence < b.sentence ? -1 : 1)),
      unreached: [...this.#unreached].map(
        ([reason, { cells, places }]): Unreached => ({ reason, cells, places: [...places].toSorted() }),
      ),
      notes,
      gaps,
    };
  }

  /** A caller must get the same verdict by every transport. */
  #compare(cells: readonly Cell[]): void {
    const verdicts = cells.map(({ outcome }) => outcome.verdict);
    const count = (verdict: string): number => verdicts.filter((one) => one === verdict).length;
    const usual = verdicts.toSorted((a, b) => count(b) - count(a))[0];
    for (const cell of cells) if (cell.outcome.verdict !== usual) this.#differ(cell, "as by other transports");
  }

  #differ({ target, transport, identity, outcome }: Cell, expected: AttackDifference["expected"]): void {
    const { place, request, guardedAt } = target;
    const endpoint = request.kind === "graph" ? request.endpoint.path : undefined;
    const way = endpoint === undefined ? transport : `${transport} ${endpoint}`;
    const found = `${outcome.verdict} (${outcome.found})`;
    this.#differences.push({
      place,
      ...(endpoint === undefined ? {} : { endpoint }),
      transport,
      identity,
      expected,
      found,
      sentence: `${place}: ${identity} is ${found} by ${way}, but ${reasons(expected, guardedAt)}`,
    });
  }
}

const ROOTS: ReadonlySet<string> = new Set(["Query", "Mutation", "Subscription"]);

/** The data that the attack needs to decide about a place, in words. */
function lackOf({ place, request }: Target): string {
  const [type = "", field] = place.split(/[. ]/, 2);
  if (request.kind !== "graph") return "no data";
  if (ROOTS.has(type)) return `no data: ${type}.${field} returned nothing`;
  return `no data: no query returned an object of type ${type}`;
}

function reasons(expected: AttackDifference["expected"], guardedAt: string | undefined): string {
  if (guardedAt !== undefined) return `the endpoint ${guardedAt} of the same schema must refuse this caller`;
  if (expected === "refused") return "the gate must refuse this caller";
  return expected === "let in" ? "the gate must let this caller in" : "not by most transports";
}
