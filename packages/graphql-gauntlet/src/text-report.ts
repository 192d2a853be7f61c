import type { Report, Result } from "./run-gauntlet.ts";
import { SPECIFICATION_DRAFT } from "./sources.ts";

const labels: Readonly<Record<Result["outcome"], string>> = {
  passed: "pass",
  failed: "FAIL",
  advice: "advice",
  skipped: "skip",
};

/** One line for a row, and below it the reasons if it did not pass. */
export function textResult({ row, outcome, note = "" }: Result): string {
  const line = `${labels[outcome].padEnd(7)} ${row.id.padEnd(10)} ${row.severity.padEnd(7)} ${row.title}`;
  if (outcome === "passed") return line;
  const indent = " ".repeat(27);
  if (outcome === "skipped") return `${line}\n${indent}${note}`;
  return [line, note, `why: ${row.why}`, `see: ${row.source.name}, ${row.source.url}`].join(`\n${indent}`);
}

/** The last lines: the counts, and the meaning of the exit code. */
export function textSummary({ url, results, isDown }: Report): string {
  const count = (outcome: Result["outcome"]): number => results.filter((result) => result.outcome === outcome).length;
  const failed = results.filter(({ outcome }) => outcome === "failed").map(({ row }) => row.id);
  return [
    "",
    `${url}: ${count("passed")} passed, ${count("failed")} failed, ${count("advice")} with advice, ${count("skipped")} skipped`,
    ...(failed.length > 0 ? [`failed: ${failed.join(", ")}`] : []),
    ...(isDown ? ["The server stopped responding, so the rest of the rows was skipped."] : []),
    `Only "must" rows can fail: the GraphQL over HTTP specification (draft of ${SPECIFICATION_DRAFT}) or an advisory demands them.`,
  ].join("\n");
}
