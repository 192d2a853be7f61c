import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type Cell, cellName, FAULTS, RESOURCES } from "../../../lab/faults/cell.ts";
import { cells } from "../../../lab/faults/cells.ts";
import { faultTable, unnamed, untried } from "../../../lab/faults/print-table.ts";

const run = (sees: Extract<Cell, { sees: unknown }>["sees"]): Cell => ({
  resource: "NATS",
  fault: "gone",
  sees,
  start: async () => {
    throw new Error("it is not started");
  },
});

it("has every pair of a resource and a fault: as run, with what an operator sees, or as impossible, with a reason", () => {
  const names = cells.map(cellName);
  const known = cells.filter((cell) => ("sees" in cell ? true : cell.impossible.length > 0));

  expect(untried(cells)).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
  expect(known).toEqual(cells);
});

it("does not exclude a pair that is run", () => {
  const pairs = (isRun: boolean): readonly string[] =>
    cells.filter((cell) => "sees" in cell === isRun).map(({ resource, fault }) => `${resource} ${fault}`);

  expect(pairs(false).filter((pair) => pairs(true).includes(pair))).toEqual([]);
});

it("expects each failing readiness check by name", () => {
  const nameless = cells.filter((cell) => "sees" in cell && cell.sees.ready === 503 && cell.sees.checks === undefined);

  expect(nameless).toEqual([]);
});

it("is the table of the documentation", () => {
  const page = readFileSync(new URL("../../../docs/guide/deployment.md", import.meta.url), "utf8");

  expect(page).toContain(`<!-- figures: faults -->\n${faultTable(cells)}\n<!-- end of figures -->`);
});

it("does not report a pair that nothing tests as tried", () => {
  expect(untried([run({})])).toHaveLength(RESOURCES.length * FAULTS.length - 1);
  expect(untried([])).toContainEqual(["NATS", "gone"]);
});

it("shows what an operator sees", () => {
  expect(
    faultTable([run({ probes: { publish: 503 }, ready: 503, checks: ["bus"], log: "nats: connection lost" })]),
  ).toContain("| NATS | gone | 503 for events | 503, `bus` | `nats: connection lost` |");
  expect(faultTable([run({})])).toContain("| NATS | gone | all succeed | 200 | none |");
  expect(faultTable([run({ startError: "no connection" })])).toContain(
    "| NATS | gone | the application does not start | none | `no connection` |",
  );
  expect(faultTable([run({ probes: { read: 500, write: 503 }, doctor: "failed database" })])).toContain(
    "| 500 for reads of the database; 503 for writes to the database | 200 | `failed database` |",
  );
  expect(faultTable([run({ probes: { read: 0 }, ready: 0 })])).toContain("| no response | no response | none |");
  expect(faultTable([run({ ends: true, log: "out of memory" })])).toContain(
    "| the process ends | none | `out of memory` |",
  );
});

it("names the cause of each fault that requests notice in the log and by doctor, or says why it can't", () => {
  const silent = cells.flatMap((cell) =>
    "sees" in cell ? unnamed(cell.sees).map((by) => `${cellName(cell)}: ${by}`) : [],
  );

  expect(silent).toEqual([]);
  expect(unnamed({ probes: { read: 503 } })).toEqual(["log", "doctor"]);
  expect(unnamed({ ready: 503, checks: ["bus"] })).toEqual(["doctor"]);
  expect(unnamed({ ends: true, blind: "it was killed" })).toEqual([]);
});
