import type { Cell } from "./cell.ts";
import { clientCells } from "./cells/client-cells.ts";
import { fileCells } from "./cells/file-cells.ts";
import { limitCells } from "./cells/limit-cells.ts";
import { mariaCells } from "./cells/maria-cells.ts";
import { networkCells } from "./cells/network-cells.ts";
import { processCells } from "./cells/process-cells.ts";
import { sqlCells } from "./cells/sql-cells.ts";
import { storeCells } from "./cells/store-cells.ts";

/** Every pair of a resource and a fault, at least once: what an operator sees, or why it cannot happen. */
export const cells: readonly Cell[] = [
  ...processCells,
  ...limitCells,
  ...fileCells,
  ...networkCells,
  ...sqlCells,
  ...mariaCells,
  ...storeCells,
  ...clientCells,
];
