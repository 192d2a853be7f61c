import { HABITS, limitsOf, needsOf } from "../bench/scale/capacity.ts";
import type { SimulationResults } from "../bench/simulate.ts";
import { lineChart } from "./line-chart.ts";

const SIZES = [10_000, 100_000, 1_000_000, 10_000_000];

/** What requests cost, what numbers of users need, what breaks first, and the real runs beside the computation. */
export function scalingTables({ node, parts, runs }: SimulationResults): string {
  return [
    `| A request, on Node ${node.slice(1)} | Of 100 requests | Node | Redis | PostgreSQL |`,
    "|---|--:|--:|--:|--:|",
    ...parts.kinds.map(
      (kind) =>
        `| ${kind.kind} | ${kind.share} | ${micros(kind.node)} | ${micros(kind.redis)} | ${micros(kind.postgres)} |`,
    ),
    "",
    `A session takes ${bytes(parts.sessionBytes)} in Redis, a user ${bytes(parts.userBytes)} in PostgreSQL, and a WebSocket with a subscription ${bytes(parts.socketBytes)} in the process, which needs ${micros(parts.messageMicros)} to send it an event.`,
    "",
    `With these costs, if ${percent(HABITS.activeShare)} of the users come on a day and send ${HABITS.requestsPerDay} requests each, if the busiest second has ${HABITS.peak} times the average load, and if ${percent(HABITS.onlineShare)} have a socket open then and receive ${HABITS.eventsPerMinute} events per minute:`,
    "",
    "| Users | Requests per second | Sockets | Processes | Cores of Node | Cores of Redis | Cores of PostgreSQL | Sessions in Redis | Users in PostgreSQL |",
    "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ...SIZES.map((size) => {
      const needs = needsOf(parts, size);
      return `| ${whole(size)} | ${whole(needs.requestsPerSecond)} | ${whole(needs.sockets)} | ${needs.processes} | ${cores(needs.node)} | ${cores(needs.redis)} | ${cores(needs.postgres)} | ${bytes(needs.redisBytes)} | ${bytes(needs.postgresBytes)} |`;
    }),
    "",
    "| At about this many users | Limit that is reached | Remedy |",
    "|--:|---|---|",
    ...limitsOf(parts).map(
      ({ users, reached, remedy }) => `| ${whole(Number(users.toPrecision(2)))} | ${reached} | ${remedy} |`,
    ),
    "",
    "| A real run of the mix | Cores computed | Cores measured | Difference |",
    "|---|--:|--:|--:|",
    ...runs.map(
      ({ processes, perSecond, computed, measured }) =>
        `| ${processes} ${processes === 1 ? "process" : "processes"}, ${perSecond} requests per second | ${computed.toFixed(2)} | ${measured.toFixed(2)} | ${percent(measured / computed - 1)} |`,
    ),
  ].join("\n");
}

/** The cores that each part uses, over the number of users. */
export function scalingPlot({ parts }: SimulationResults): string {
  const x = Array.from({ length: 13 }, (_, n) => 10 ** (4 + n / 4));
  const needs = x.map((users) => needsOf(parts, users));
  return lineChart({
    title: "Cores in use at the busiest time, by registered users",
    x,
    lines: [
      { name: "Node", values: needs.map(({ node }) => node) },
      { name: "PostgreSQL", values: needs.map(({ postgres }) => postgres) },
      { name: "Redis", values: needs.map(({ redis }) => redis) },
    ],
  });
}

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const percent = (share: number): string => `${Math.round(100 * share)}%`;
const cores = (value: number): string => (value < 10 ? value.toPrecision(2) : whole(value));
const micros = (value: number): string => `${whole(value)} µs`;

function bytes(value: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)));
  const shown = value / 1024 ** step;
  return `${shown < 10 && step > 0 ? shown.toFixed(1) : whole(shown)} ${units[step]}`;
}
