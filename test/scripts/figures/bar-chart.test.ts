import { expect, it } from "vitest";
import { barChart } from "../../../lab/figures/bar-chart.ts";
import { performancePlots } from "../../../lab/figures/plots.ts";
import { read } from "../../../scripts/package/repository.ts";

const group = {
  title: "A < B",
  measure: "CPU time",
  bars: [
    { name: "Fastify", value: 100, label: "100 µs" },
    { name: "Portico", value: 50, label: "50 µs" },
  ],
};

it("draws bars in proportion, and highlights Portico", () => {
  const [longest, half] = [
    ...barChart([group]).matchAll(/<rect(?<mark>[^>]*) x="156"[^>]* width="(?<width>\d+)"/g),
  ].map(({ groups }) => groups);

  expect(Number(half?.["width"])).toBe(Number(longest?.["width"]) / 2);
  expect([longest?.["mark"], half?.["mark"]]).toEqual(["", ' class="portico"']);
});

it("has colours for light and dark pages, and escapes text", () => {
  const picture = barChart([group]);

  expect(picture).toContain("@media (prefers-color-scheme: dark)");
  expect(picture).toContain(">A &lt; B</text>");
});

it("puts the groups below each other, within the picture", () => {
  const picture = barChart([group, group]);
  const titles = [...picture.matchAll(/class="title" x="12" y="(\d+)"/g)].map(([, y]) => Number(y));
  const last = Math.max(...[...picture.matchAll(/ y="(\d+)"/g)].map(([, y]) => Number(y)));

  expect(titles[1]).toBeGreaterThan((titles[0] ?? 0) + 2 * 20);
  expect(last).toBeLessThan(Number(/height="(\d+)"/.exec(picture)?.[1]));
});

it("has drawn the pictures of the performance page from the results", () => {
  const plots = performancePlots((name) => JSON.parse(read(`lab/bench/results/${name}.json`)));

  for (const [file, picture] of Object.entries(plots)) {
    expect(read(file), file).toBe(picture);
    expect(read("docs/performance.md")).toContain(`](${file.replace("docs/", "")})`);
  }
});
