import type { Report, Result } from "./run-gauntlet.ts";

/** The report as JUnit XML, which CI servers read. A row that is not binding is never a failure there. */
export function junitReport({ url, results }: Report): string {
  const count = (outcome: Result["outcome"]): number => results.filter((result) => result.outcome === outcome).length;
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0).toFixed(3);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite name="graphql-gauntlet ${escaped(url)}" tests="${results.length}" failures="${count("failed")}" skipped="${count("skipped")}" time="${seconds}">`,
    ...results.map(testCase),
    "</testsuite></testsuites>",
    "",
  ].join("\n");
}

function testCase({ row, outcome, note = "", seconds }: Result): string {
  const open = `<testcase classname="${row.id.split("-")[0] ?? ""}" name="${escaped(`${row.id} ${row.title}`)}" time="${seconds.toFixed(3)}">`;
  const detail = `${row.why}\n${row.source.name}: ${row.source.url}`;
  const inside = {
    passed: "",
    failed: `<failure message="${escaped(note)}">${escaped(detail)}</failure>`,
    advice: `<system-out>${escaped(`${row.severity}: ${note}\n${detail}`)}</system-out>`,
    skipped: `<skipped message="${escaped(note)}"/>`,
  }[outcome];
  return `${open}${inside}</testcase>`;
}

function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  // XML has no way to write most control characters.
  return text.replace(/[&<>"]/g, (sign) => names[sign] ?? "").replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD]/g, "?");
}
