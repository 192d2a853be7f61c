import { expect, it } from "vitest";
import { type BenchResults, fillFigures, strayFigures } from "../../../lab/figures.ts";

const workloads = ["A", "B", "C", "D", "E"];
const results: BenchResults = {
  node: "v24.21.0",
  figures: workloads.flatMap((workload) => [
    { row: "graphql-js 16", workload, micros: 2_000.4 },
    { row: "Portico", workload, micros: 500 },
    ...(workload === "A" ? [{ row: "Portico, protections off", workload, micros: 400 }] : []),
  ]),
};
const text = (table: string): string =>
  `Before.\n\n<!-- figures: graphql -->\n${table}<!-- end of figures -->\n\nAfter.\n`;

it("replaces the figures of a page by those of the results", () => {
  const filled = fillFigures(text("| an old table |\n"), () => results);
  expect(filled).toBe(
    text(
      [
        "| Node 24.21.0 | A | B | C | D | E |",
        "|---|--:|--:|--:|--:|--:|",
        `| graphql-js 16 |${" 2,000 µs (1.00) |".repeat(5)}`,
        `| Portico |${" 500 µs (4.00) |".repeat(5)}`,
        "",
      ].join("\n"),
    ),
  );
  expect(fillFigures(filled, () => results)).toBe(filled);
});

it("fills a place that is empty yet", () => {
  expect(fillFigures(text(""), () => results)).toBe(fillFigures(text("| an old table |\n"), () => results));
});

it("leaves the rest of a page as it is", () => {
  const page = "| a table | 12 µs |\n|---|---|\n";
  expect(fillFigures(page, () => results)).toBe(page);
});

it("finds figures that do not come from the results", () => {
  const filled = fillFigures(text(""), () => results);
  expect(strayFigures(filled)).toEqual([]);
  expect(strayFigures(`${filled}It takes 2.5 µs.\nIt takes 3 microseconds.\nA timestamp has microseconds.`)).toEqual([
    "It takes 2.5 µs.",
    "It takes 3 microseconds.",
  ]);
});

it("names figures that do not exist", () => {
  const page = "<!-- figures: rest -->\n<!-- end of figures -->\n";
  expect(() => fillFigures(page, () => results)).toThrow("there are no figures named rest: use graphql, ");
});

it("names a figure that the results lack", () => {
  const figures = results.figures.filter(({ row, workload }) => row !== "Portico" || workload !== "D");
  expect(() => fillFigures(text(""), () => ({ ...results, figures }))).toThrow("no figure for Portico, D");
});
