import { type Outcome, type Row, rows } from "../../packages/graphql-gauntlet/src/index.ts";

/** The content of `lab/bench/results/gauntlet.json`. */
export interface GauntletResults {
  readonly node: string;
  readonly day: string;
  readonly servers: readonly {
    readonly name: string;
    readonly version: string;
    /** By the id of the row. */
    readonly outcomes: Readonly<Record<string, Outcome>>;
  }[];
}

const cells: Readonly<Record<Outcome, string>> = { passed: "yes", failed: "**no**", advice: "no", skipped: "–" };

const count = (outcomes: Readonly<Record<string, Outcome>>, outcome: Outcome): number =>
  Object.values(outcomes).filter((one) => one === outcome).length;

/** The counts of every server, and the rows that at least one of them did not pass. */
export function gauntletTables({ node, day, servers }: GauntletResults): string {
  const header = `| ${servers.map(({ name }) => name).join(" | ")} |`;
  const line = (row: Row): string =>
    `${row.title} ([${row.source.name.replace("GraphQL over HTTP, ", "")}](${row.source.url})) | ${servers
      .map(({ outcomes }) => cells[outcomes[row.id] ?? "skipped"])
      .join(" | ")} |`;
  const isBroken = ({ id }: Row): boolean =>
    servers.some(({ outcomes }) => outcomes[id] === "failed" || outcomes[id] === "advice");
  const broken = rows.filter(isBroken);
  return [
    `| ${day}, Node ${node.slice(1)} | version | passed | failed | with advice | skipped |`,
    "|---|---|--:|--:|--:|--:|",
    ...servers.map(
      ({ name, version, outcomes }) =>
        `| ${name} | ${version === "0.0.0" ? "this repository" : version} | ${count(outcomes, "passed")} | ${count(outcomes, "failed")} | ${count(outcomes, "advice")} | ${count(outcomes, "skipped")} |`,
    ),
    "",
    "Rules that the specification or an advisory demands, and that at least one of the servers breaks:",
    "",
    `| Row | Rule ${header}`,
    `|---|---|${servers.map(() => "---|").join("")}`,
    ...broken.filter(({ severity }) => severity === "must").map((row) => `| ${row.id} | ${line(row)}`),
    "",
    "Recommendations of the specification (should) and good practice (advice):",
    "",
    `| Row | Kind | Rule ${header}`,
    `|---|---|---|${servers.map(() => "---|").join("")}`,
    ...broken
      .filter(({ severity }) => severity !== "must")
      .map((row) => `| ${row.id} | ${row.severity} | ${line(row)}`),
  ].join("\n");
}
