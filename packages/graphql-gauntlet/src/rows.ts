import type { Row } from "./row.ts";
import { batchRows } from "./rows/batch-rows.ts";
import { documentRows } from "./rows/document-rows.ts";
import { forgeryRows } from "./rows/forgery-rows.ts";
import { getRows } from "./rows/get-rows.ts";
import { leakRows } from "./rows/leak-rows.ts";
import { mediaRows } from "./rows/media-rows.ts";
import { nameRows } from "./rows/name-rows.ts";
import { parameterRows } from "./rows/parameter-rows.ts";
import { statusRows } from "./rows/status-rows.ts";
import { streamRows } from "./rows/stream-rows.ts";

/** Every row, in the order in which they are run. */
export const rows: readonly Row[] = [
  ...mediaRows,
  ...statusRows,
  ...parameterRows,
  ...getRows,
  ...forgeryRows,
  ...documentRows,
  ...nameRows,
  ...leakRows,
  ...batchRows,
  ...streamRows,
];
