import { Depend, type Dependency, provide } from "portico";
import type { Owner } from "./model.ts";

/** The text in the guarded value of an owner. */
export function canaryOf(owner: Owner): string {
  return `canary-of-${owner}-58c1`;
}

export interface Row {
  readonly id: string;
  readonly owner: Owner;
  /** The canary as a property that no resolver reads. */
  readonly plain: string;
}

export const OWNERS: readonly Owner[] = ["mine", "theirs"];
export const rowOf = (owner: Owner): Row => ({ id: owner, owner, plain: canaryOf(owner) });
export const rows: readonly Row[] = OWNERS.map(rowOf);

/** Records what ran behind a gate. */
export class Probe {
  readonly ran: Set<Owner> = new Set();
  readonly outcomes: string[] = [];
  /** A unit of work that records how its operation ended. */
  readonly work: Dependency<number> = workOf(this.outcomes);

  /** Computes the guarded value. */
  reveal(owner: Owner): string {
    this.ran.add(owner);
    return canaryOf(owner);
  }

  reset(): void {
    this.ran.clear();
    this.outcomes.length = 0;
  }
}

function workOf(outcomes: string[]): Dependency<number> {
  return Depend(
    provide(async function* ({ ctx }) {
      try {
        yield 1;
      } finally {
        outcomes.push(ctx.outcome);
      }
    }),
  );
}
