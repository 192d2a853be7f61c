import { expect, it } from "vitest";
import { type GauntletResults, gauntletTables } from "../../../lab/figures/gauntlet-tables.ts";

const results: GauntletResults = {
  node: "v24.1.0",
  day: "2026-11-16",
  servers: [
    { name: "Ours", version: "0.0.0", outcomes: { "GET-01": "passed", "DOC-09": "advice", "MEDIA-01": "passed" } },
    { name: "Theirs", version: "1.2.3", outcomes: { "GET-01": "failed", "DOC-09": "skipped", "MEDIA-01": "passed" } },
  ],
};

it("counts the outcomes of each server", () => {
  expect(gauntletTables(results)).toContain(
    [
      "| 2026-11-16, Node 24.1.0 | version | passed | failed | with advice | skipped |",
      "|---|---|--:|--:|--:|--:|",
      "| Ours | this repository | 2 | 0 | 1 | 0 |",
      "| Theirs | 1.2.3 | 1 | 1 | 0 | 1 |",
    ].join("\n"),
  );
});

it("lists the rows that a server did not pass, and leaves out the others", () => {
  const tables = gauntletTables(results);

  expect(tables).toMatch(/^\| GET-01 \| rejects a mutation over GET .+ \| yes \| \*\*no\*\* \|$/m);
  expect(tables).toMatch(/^\| DOC-09 \| advice \| rejects 1,000 aliases .+ \| no \| – \|$/m);
  expect(tables).not.toContain("MEDIA-01");
});
