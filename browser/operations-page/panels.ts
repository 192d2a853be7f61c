import type { ErrorFigures } from "../../src/observe/errors-by-code.ts";
import type { Saturation } from "../../src/observe/saturation.ts";
import { byId, inside } from "../elements.ts";
import { bar, element, line, linked, nameElement } from "./drawing.ts";
import { percent, short, whole } from "./numbers.ts";
import type { Entry, Step } from "./totals.ts";

/** As many as fit on one screen below the tiles. */
const MAX_ROWS = 5;

/** One figure of all operations, with its past if there is one. */
export function drawTile(id: string, value: string, detail: string, moves: readonly number[]): void {
  const place = byId(id);
  inside(place, "strong").textContent = value;
  inside(place, "small").textContent = detail;
  place.querySelector("svg")?.remove();
  if (moves.length > 1) place.append(line(moves, 84, 44));
}

/** The order of a panel, and what it shows of each entry. */
export interface Panel {
  readonly by: (entry: Entry) => number;
  readonly value: (entry: Entry) => string;
  readonly detail: (entry: Entry) => string;
  readonly moves: (steps: readonly Step[]) => readonly number[];
}

/** The first entries of an order. */
export function drawPanel(id: string, entries: readonly Entry[], { by, value, detail, moves }: Panel): void {
  const rows = entries.toSorted((a, b) => by(b) - by(a)).slice(0, MAX_ROWS);
  const most = Math.max(...rows.map(by)) || 1;
  const items = rows.map((entry) => {
    const item = document.createElement("li");
    item.append(
      nameElement(entry.name),
      entry.steps.length > 1 ? line(moves(entry.steps), 48, 20) : element("span"),
      element("span", "value number", value(entry)),
      bar(by(entry) / most),
      element("small", "number", detail(entry)),
    );
    return item;
  });
  fill(id, items);
}

function fill(id: string, items: readonly HTMLElement[]): void {
  inside(byId(id), "ol").replaceChildren(...items);
  inside(byId(id), ".empty").hidden = items.length > 0;
}

/** The most frequent errors. A correlation id leads to a log line, and a code of Portico to its documentation. */
export function drawCodes(codes: Readonly<Record<string, ErrorFigures>>): void {
  const rows = Object.entries(codes)
    .toSorted(([, a], [, b]) => b.count - a.count)
    .slice(0, MAX_ROWS);
  const most = rows[0]?.[1].count ?? 1;
  const items = rows.map(([code, { count, correlation_id: id, docs }]) => {
    const item = element("li");
    item.append(
      docs === null ? nameElement(code) : linked(nameElement(code), docs),
      element("span", "value number", whole(count)),
      bar(count / most),
      element("small", "id", id ?? "no correlation id"),
    );
    return item;
  });
  fill("codes", items);
}

/** Faults first, as the server sends them. A limit that is not full is blue. */
export function drawSaturation(list: readonly Saturation[]): void {
  const section = byId("saturation");
  section.hidden = list.length === 0;
  const items = list.map((saturation) => {
    const { name, state } = saturation;
    const item = element("li", { ok: "busy", high: "slow", failed: "fail" }[state]);
    item.dataset["state"] = state;
    const text = element("span", "value number", useOf(saturation));
    item.append(nameElement(name), text, bar(shareOf(saturation)));
    return item;
  });
  inside(section, "ol").replaceChildren(...items);
}

function shareOf({ value, limit, state }: Saturation): number {
  if (state === "failed") return 1;
  if (limit === null) return state === "ok" ? 0 : 1;
  return Math.min(1, value / limit);
}

function useOf({ value, limit, state }: Saturation): string {
  if (state === "failed") return "failed";
  if (limit === 1 && !Number.isInteger(value)) return percent(value);
  return short(value) + (limit === null ? "" : ` of ${whole(limit)}`);
}
