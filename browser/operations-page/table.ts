import { byId } from "../elements.ts";
import { element } from "./drawing.ts";
import { short, time, whole } from "./numbers.ts";
import { average, type Entry, type Kind, type Row } from "./totals.ts";

const MAX_IN_TABLE = 100;
/** The figures that the table can be sorted by. */
const KEYS = {
  count: (row: Row) => row.count,
  errors: (row: Row) => row.errors,
  average,
  p50: (row: Row) => row.p50,
  p95: (row: Row) => row.p95,
  p99: (row: Row) => row.p99,
  slowest: (row: Row) => row.slowest,
  cost: (row: Row) => row.cost / row.count,
};
export type Order = "name" | keyof typeof KEYS;

/** All operations or routes since startup. */
export function drawTable(entries: readonly Entry[], kind: Kind | null, order: Order): void {
  const rows = entries.toSorted((a, b) =>
    order === "name" ? a.name.localeCompare(b.name) : KEYS[order](b.total) - KEYS[order](a.total),
  );
  byId("rows").replaceChildren(...rows.slice(0, MAX_IN_TABLE).map((entry) => rowElement(entry, kind)));
  byId("more").hidden = rows.length <= MAX_IN_TABLE;
  for (const heading of document.querySelectorAll("th")) {
    if (heading.dataset["order"] !== order) heading.removeAttribute("aria-sort");
    else heading.setAttribute("aria-sort", order === "name" ? "ascending" : "descending");
  }
}

function rowElement({ name, total }: Entry, kind: Kind | null): HTMLElement {
  const row = document.createElement("tr");
  const errors = element("td", total.errors > 0 ? "number bad" : "number", whole(total.errors));
  const times = [average(total), total.p50, total.p95, total.p99, total.slowest].map(time);
  const cost = kind === "routes" ? "" : short(KEYS.cost(total));
  row.append(
    element("td", "", name),
    element("td", "number", whole(total.count)),
    errors,
    ...[...times, cost].map((text) => element("td", "number", text)),
  );
  return row;
}
