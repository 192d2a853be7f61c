/** Runs in the browser. It fetches the totals as JSON from the address of the page, and draws the changes. */
export const OPERATIONS_SCRIPT: string = String.raw`
"use strict";
const { refreshSeconds } = JSON.parse(document.getElementById("options").textContent);
const MINUTE = 60000;
const MOST_ROWS = 8;
const MOST_IN_TABLE = 100;
// Each sample has a time and the totals of every operation and every route.
let samples = [];
let span = "start";
// "operations" or "routes"; what there is, until the user chooses.
let kind = null;
let order = "count";
let isPaused = false;
let failure = null;

const byId = (id) => document.getElementById(id);

async function refresh() {
  if (isPaused || document.hidden) return;
  try {
    const response = await fetch(location.pathname, {
      headers: { accept: "application/json" },
      signal: AbortSignal.timeout(10000),
    });
    if (!response.ok) throw new Error("the server returned " + response.status);
    take(await response.json());
    failure = null;
  } catch (error) {
    failure = error.message;
  }
  draw();
}

function take(snapshot) {
  const sample = { at: performance.now(), operations: rowsOf(snapshot.operations), routes: rowsOf(snapshot.routes) };
  const last = samples.at(-1);
  // A lower total means that the totals were reset, or that another process has responded.
  const isLower = (key) => [...last[key]].some(([name, row]) => (sample[key].get(name)?.count ?? 0) < row.count);
  if (last !== undefined && (isLower("operations") || isLower("routes"))) samples = [];
  samples.push(sample);
  const isOnlyRoutes = sample.operations.size === 0 && sample.routes.size > 0;
  if (kind === null) choose("kind", isOnlyRoutes ? "routes" : "operations");
  const oldest = performance.now() - MINUTE - refreshSeconds * 1000;
  samples = samples.filter(({ at }) => at >= oldest);
}

function rowsOf(records) {
  return new Map(Object.entries(records).map(([name, row]) => [name, {
    count: row.count,
    // Subscriptions and sockets have no durations, so averages do not include them.
    timed: row.slowest_seconds === 0 ? 0 : row.count,
    errors: row.errors,
    seconds: row.average_seconds * row.count,
    cost: (row.average_cost ?? 0) * row.count,
    slowest: row.slowest_seconds,
    p50: row.p50_seconds,
    p95: row.p95_seconds,
    p99: row.p99_seconds,
    sockets: row.open_sockets ?? 0,
  }]));
}

const NONE = { count: 0, timed: 0, errors: 0, seconds: 0, cost: 0, slowest: 0 };

function difference(after, before) {
  return {
    count: after.count - before.count,
    timed: after.timed - before.timed,
    errors: after.errors - before.errors,
    seconds: after.seconds - before.seconds,
    cost: after.cost - before.cost,
    slowest: after.slowest,
  };
}

/** The totals of each operation or route in the chosen span, and its change from sample to sample. */
function figures() {
  const last = samples.at(-1);
  if (last === undefined) return [];
  const first = span === "minute" && samples.length > 1 ? samples[0] : null;
  return [...last[kind]].map(([name, total]) => {
    const done = first === null ? total : difference(total, first[kind].get(name) ?? NONE);
    const steps = samples.slice(1).map((sample, index) => {
      const before = samples[index];
      const step = difference(sample[kind].get(name) ?? NONE, before[kind].get(name) ?? NONE);
      return { ...step, elapsed: (sample.at - before.at) / 1000 };
    });
    return { name, total, steps, ...done, elapsed: first === null ? null : (last.at - first.at) / 1000 };
  });
}

function sum(list) {
  const whole = { ...NONE, elapsed: list[0]?.elapsed ?? null, steps: [] };
  for (const entry of list) {
    for (const key of ["count", "timed", "errors", "seconds", "cost"]) whole[key] += entry[key];
    whole.slowest = Math.max(whole.slowest, entry.total.slowest);
    entry.steps.forEach((step, index) => {
      const at = (whole.steps[index] ??= { ...NONE, elapsed: step.elapsed });
      for (const key of ["count", "timed", "errors", "seconds"]) at[key] += step[key];
    });
  }
  return whole;
}

const rate = ({ count, elapsed }) => (elapsed ? count / elapsed : 0);
const average = ({ timed, seconds }) => (timed === 0 ? 0 : seconds / timed);
const share = ({ count, errors }) => (count === 0 ? 0 : errors / count);
/** The figure of each step; a step without operations repeats the figure before it. */
function held(steps, figure, of = "count") {
  let last = 0;
  return steps.map((step) => (last = step[of] === 0 ? last : figure(step)));
}

const whole = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const perSecond = (value) => short.format(value) + "/s";
const percent = (value) => short.format(value * 100) + " %";
function time(seconds) {
  if (seconds >= 1) return short.format(seconds) + " s";
  if (seconds >= 0.001) return short.format(seconds * 1000) + " ms";
  return seconds === 0 ? "0" : short.format(seconds * 1e6) + " µs";
}
const things = (count) =>
  whole.format(count) + (kind === "routes" ? " request" : " operation") + (count === 1 ? "" : "s");

function draw() {
  const list = kind === null ? [] : figures();
  const active = list.filter(({ count }) => count > 0);
  const all = sum(list);
  const isRate = all.elapsed !== null;
  drawState();
  const isRoutes = kind === "routes";
  byId("tile-rate").querySelector("p").textContent = isRoutes ? "Requests" : "Operations";
  byId("tile-names").querySelector("p").textContent = isRoutes ? "Open sockets" : "Different operations";
  tile("tile-rate", isRate ? perSecond(rate(all)) : whole.format(all.count), things(all.count), all.steps.map(rate));
  tile("tile-time", time(average(all)), "slowest ever " + time(all.slowest), held(all.steps, average, "timed"));
  tile("tile-fail", percent(share(all)), whole.format(all.errors) + " with errors", held(all.steps, share));
  const sockets = list.reduce((open, { total }) => open + total.sockets, 0);
  const seen = "of " + whole.format(list.length) + " seen since startup";
  tile("tile-names", whole.format(isRoutes ? sockets : active.length), isRoutes ? "now" : seen, null);
  panel("busiest", active, {
    by: ({ count }) => count,
    value: (entry) => (isRate ? perSecond(rate(entry)) : whole.format(entry.count)),
    detail: ({ count, ...entry }) =>
      percent(all.count === 0 ? 0 : count / all.count) + " of all, " + things(entry.total.count) + " since startup",
    moves: (steps) => steps.map(rate),
  });
  panel("slowest", active.filter(({ timed }) => timed > 0), {
    by: average,
    value: (entry) => time(average(entry)),
    detail: (entry) => "p95 " + time(entry.total.p95) + ", slowest ever " + time(entry.total.slowest),
    moves: (steps) => held(steps, average, "timed"),
  });
  panel("failing", active.filter(({ errors }) => errors > 0), {
    by: ({ errors }) => errors,
    value: ({ errors }) => whole.format(errors),
    detail: (entry) => percent(share(entry)) + " of " + things(entry.count) + " had errors",
    moves: (steps) => steps.map(({ errors, elapsed }) => errors / elapsed),
  });
  table(list);
}

function drawState() {
  const state = byId("state");
  state.dataset.state = failure !== null ? "late" : isPaused ? "paused" : "live";
  if (failure !== null) state.textContent = "Not refreshed: " + failure;
  else state.textContent = isPaused ? "Paused" : "Live, every " + short.format(refreshSeconds) + " s";
}

function tile(id, value, detail, moves) {
  const place = byId(id);
  place.querySelector("strong").textContent = value;
  place.querySelector("small").textContent = detail;
  place.querySelector("svg")?.remove();
  if (moves !== null && moves.length > 1) place.append(line(moves, 84, 44));
}

function panel(id, list, { by, value, detail, moves }) {
  const rows = list.toSorted((a, b) => by(b) - by(a)).slice(0, MOST_ROWS);
  const most = rows.length === 0 ? 1 : by(rows[0]) || 1;
  byId(id).querySelector("ol").replaceChildren(...rows.map((entry) => {
    const row = document.createElement("li");
    const bar = element("div", "bar");
    bar.append(document.createElement("i"));
    bar.firstChild.style.width = (100 * by(entry)) / most + "%";
    const name = element("span", "name", entry.name);
    name.title = entry.name;
    const drawn = entry.steps.length > 1 ? line(moves(entry.steps), 64, 20) : element("span");
    row.append(name, drawn, element("span", "value number", value(entry)), bar, element("small", "number", detail(entry)));
    return row;
  }));
  byId(id).querySelector(".empty").hidden = rows.length > 0;
}

function table(list) {
  const key = { name: null, count: ({ total }) => total.count, errors: ({ total }) => total.errors,
    average: ({ total }) => average(total), p50: ({ total }) => total.p50, p95: ({ total }) => total.p95,
    p99: ({ total }) => total.p99, slowest: ({ total }) => total.slowest,
    cost: ({ total }) => total.cost / total.count }[order];
  const rows = list.toSorted((a, b) => (key === null ? a.name.localeCompare(b.name) : key(b) - key(a)));
  byId("rows").replaceChildren(...rows.slice(0, MOST_IN_TABLE).map(({ name, total }) => {
    const row = document.createElement("tr");
    const times = [average(total), total.p50, total.p95, total.p99, total.slowest].map(time);
    const cost = kind === "routes" ? "" : short.format(total.cost / total.count);
    const cells = [whole.format(total.count), whole.format(total.errors), ...times, cost];
    row.append(element("td", "", name), ...cells.map((text) => element("td", "number", text)));
    if (total.errors > 0) row.children[2].classList.add("bad");
    return row;
  }));
  byId("more").hidden = rows.length <= MOST_IN_TABLE;
  for (const heading of document.querySelectorAll("th")) {
    if (heading.dataset.order === order) heading.setAttribute("aria-sort", order === "name" ? "ascending" : "descending");
    else heading.removeAttribute("aria-sort");
  }
}

function element(tag, className = "", text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/** Draws how a figure changed; the newest value is at the right. */
function line(values, width, height) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
  svg.setAttribute("aria-hidden", "true");
  const most = Math.max(...values) || 1;
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, index) => (index * step).toFixed(1) + "," + (height - 1 - (value / most) * (height - 3)).toFixed(1));
  const area = document.createElementNS("http://www.w3.org/2000/svg", "polygon");
  area.setAttribute("points", ["0," + height, ...points, width + "," + height].join(" "));
  const stroke = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  stroke.setAttribute("points", points.join(" "));
  svg.append(area, stroke);
  return svg;
}

function choose(name, value) {
  if (name === "span") span = value;
  else kind = value;
  for (const button of document.querySelectorAll("[data-" + name + "]"))
    button.setAttribute("aria-pressed", String(button.dataset[name] === value));
}

for (const name of ["span", "kind"]) {
  for (const button of document.querySelectorAll("[data-" + name + "]")) {
    button.addEventListener("click", () => {
      choose(name, button.dataset[name]);
      draw();
    });
  }
}
byId("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  byId("pause").textContent = isPaused ? "Resume" : "Pause";
  draw();
  void refresh();
});
for (const heading of document.querySelectorAll("th[data-order]")) {
  heading.querySelector("button").addEventListener("click", () => {
    order = heading.dataset.order;
    draw();
  });
}
document.addEventListener("visibilitychange", () => void refresh());
setInterval(() => void refresh(), refreshSeconds * 1000);
void refresh();
`;
