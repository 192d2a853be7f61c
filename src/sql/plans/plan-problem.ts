/** A part of a plan whose cost grows with the table. */
export type PlanProblem =
  /** Reads all rows. */
  | { readonly kind: "scan"; readonly table: string }
  /** Sorts rows before the limit. */
  | { readonly kind: "sort"; readonly table: string }
  /** Reads a deep page from the beginning of an index. */
  | { readonly kind: "start"; readonly table: string }
  /** Reads rows that the column then leaves out. */
  | { readonly kind: "filter"; readonly table: string; readonly column: string };

/** The problem as the end of a sentence about a list. */
export function problemText(problem: PlanProblem): string {
  const { kind, table } = problem;
  switch (kind) {
    case "scan":
      return `reads the whole table ${table}`;
    case "sort":
      return `sorts the table ${table}`;
    case "start":
      return `reads the table ${table} from the beginning`;
    case "filter":
      return `reads rows of the table ${table} with another ${problem.column}`;
  }
}
