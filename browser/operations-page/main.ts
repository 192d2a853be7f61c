import type { MetricsFigures } from "../../src/observe/metrics-figures.ts";
import type { Saturation } from "../../src/observe/saturation.ts";
import { byId, inside } from "../elements.ts";
import { percent, perSecond, short, things, time, whole } from "./numbers.ts";
import { drawCodes, drawPanel, drawSaturation, drawTile } from "./panels.ts";
import { drawTable, type Order } from "./table.ts";
import { average, entriesOf, held, isLower, type Kind, rate, rowsOf, type Sample, share, sum } from "./totals.ts";

// The script of the operations page. It fetches the totals as JSON from the address of the page, and draws the changes.

const { refreshSeconds } = JSON.parse(byId("options").textContent) as { readonly refreshSeconds: number };
const MINUTE = 60_000;
let samples: readonly Sample[] = [];
let span = "start";
/** Until the user chooses, what there is. */
let kind: Kind | null = null;
let order: Order = "count";
let isPaused = false;
let failure: string | null = null;
/** The saturation and the errors by code that the last response had. */
let present: readonly Saturation[] = [];
let errors: MetricsFigures["errors"] = { operations: {}, routes: {} };

async function refresh(): Promise<void> {
  if (isPaused || document.hidden) return;
  try {
    const response = await fetch(location.pathname, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`the server returned ${response.status}`);
    take((await response.json()) as MetricsFigures);
    failure = null;
  } catch (error) {
    failure = (error as Error).message;
  }
  draw();
}

function take({ operations, routes, saturation, errors: codes }: MetricsFigures): void {
  present = saturation;
  errors = codes;
  const sample = { at: performance.now(), operations: rowsOf(operations), routes: rowsOf(routes) };
  const last = samples.at(-1);
  const kept = last !== undefined && isLower(sample, last) ? [] : samples;
  const oldest = sample.at - MINUTE - refreshSeconds * 1000;
  samples = [...kept.filter(({ at }) => at >= oldest), sample];
  if (kind === null) choose("kind", sample.operations.size === 0 && sample.routes.size > 0 ? "routes" : "operations");
}

function draw(): void {
  const entries = kind === null ? [] : entriesOf(samples, kind, span === "start");
  const active = entries.filter(({ count }) => count > 0);
  drawState();
  drawTiles(entries, active.length);
  drawPanels(entries, active);
  drawCodes(kind === null ? {} : errors[kind]);
  drawSaturation(present);
  drawTable(entries, kind, order);
}

function drawState(): void {
  const state = byId("state");
  const isLate = failure !== null;
  state.dataset["state"] = isLate ? "late" : isPaused ? "paused" : "live";
  if (isLate) state.textContent = `Not refreshed: ${failure}`;
  else state.textContent = isPaused ? "Paused" : `Live, every ${short(refreshSeconds)} s`;
}

function drawTiles(entries: ReturnType<typeof entriesOf>, active: number): void {
  const all = sum(entries);
  const isRoutes = kind === "routes";
  const total = all.elapsed === null ? whole(all.count) : perSecond(rate(all));
  inside(byId("tile-rate"), "p").textContent = isRoutes ? "Requests" : "Operations";
  inside(byId("tile-names"), "p").textContent = isRoutes ? "Open sockets" : "Different operations";
  drawTile("tile-rate", total, things(all.count, kind), all.steps.map(rate));
  drawTile("tile-time", time(average(all)), `slowest ever ${time(all.slowest)}`, held(all.steps, average, "timed"));
  drawTile("tile-fail", percent(share(all)), `${whole(all.errors)} with errors`, held(all.steps, share));
  const sockets = entries.reduce((open, { total }) => open + total.sockets, 0);
  const seen = `of ${whole(entries.length)} seen since startup`;
  drawTile("tile-names", whole(isRoutes ? sockets : active), isRoutes ? "now" : seen, []);
}

function drawPanels(entries: ReturnType<typeof entriesOf>, active: ReturnType<typeof entriesOf>): void {
  const all = sum(entries);
  drawPanel("busiest", active, {
    by: ({ count }) => count,
    value: (entry) => (all.elapsed === null ? whole(entry.count) : perSecond(rate(entry))),
    detail: ({ count, total }) =>
      `${percent(all.count === 0 ? 0 : count / all.count)} of all, ${whole(total.count)} since startup`,
    moves: (steps) => steps.map(rate),
  });
  const timed = active.filter((entry) => entry.timed > 0);
  drawPanel("slowest", timed, {
    by: average,
    value: (entry) => time(average(entry)),
    detail: ({ total }) => `p95 ${time(total.p95)}, slowest ever ${time(total.slowest)}`,
    moves: (steps) => held(steps, average, "timed"),
  });
  const failing = active.filter(({ errors }) => errors > 0);
  drawPanel("failing", failing, {
    by: ({ errors }) => errors,
    value: ({ errors }) => whole(errors),
    detail: (entry) => `${percent(share(entry))} of ${things(entry.count, kind)} had errors`,
    moves: (steps) => steps.map(({ errors, elapsed }) => errors / elapsed),
  });
}

/** Chooses the rows or the time that the page shows. */
function choose(name: "kind" | "span", value: string): void {
  if (name === "span") span = value;
  else kind = value as Kind;
  for (const button of document.querySelectorAll<HTMLElement>(`[data-${name}]`))
    button.setAttribute("aria-pressed", String(button.dataset[name] === value));
}

for (const name of ["span", "kind"] as const)
  for (const button of document.querySelectorAll<HTMLElement>(`[data-${name}]`))
    button.addEventListener("click", () => {
      choose(name, button.dataset[name] ?? "");
      draw();
    });
byId("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  byId("pause").textContent = isPaused ? "Resume" : "Pause";
  draw();
  void refresh();
});
for (const heading of document.querySelectorAll<HTMLElement>("th[data-order]"))
  inside(heading, "button").addEventListener("click", () => {
    order = heading.dataset["order"] as Order;
    draw();
  });
document.addEventListener("visibilitychange", () => void refresh());
setInterval(() => void refresh(), refreshSeconds * 1000);
void refresh();
