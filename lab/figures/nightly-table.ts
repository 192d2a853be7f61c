import { parts } from "../nightly/parts.ts";
import { time } from "../nightly/result-table.ts";
import type { Results } from "../nightly/results.ts";

/** Each part of the nightly run, with the figure and the day of its last long run. */
export function nightlyTable(results: Results): string {
  return [
    "| Part | Search | Result | Figure | Time | Day |",
    "|---|---|---|---|--:|---|",
    ...parts.map(({ name, does }) => {
      const result = results[name];
      if (result === undefined) return `| \`${name}\` | ${does} | never run | | | |`;
      const { outcome, figure, seconds, day } = result;
      return `| \`${name}\` | ${does} | ${outcome === "passed" ? outcome : `**${outcome}**`} | ${code(figure)} | ${time(seconds)} | ${day} |`;
    }),
  ].join("\n");
}

/** Markup in a line of output must not become markup of the page. */
function code(figure: string): string {
  return figure === "" ? "" : `\`${figure.replaceAll("`", "'").replaceAll("|", "/").replaceAll(/\s+/g, " ")}\``;
}
