#!/usr/bin/env node
import { readFileSync, writeFileSync } from "node:fs";
import { CannotRun } from "./discover.ts";
import { junitReport } from "./junit-report.ts";
import { type Arguments, readArguments, USAGE, UsageError } from "./read-arguments.ts";
import { rows } from "./rows.ts";
import { type Report, runGauntlet } from "./run-gauntlet.ts";
import { SPECIFICATION_DRAFT } from "./sources.ts";
import { textResult, textSummary } from "./text-report.ts";

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const VERSION = (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string })
  .version;

try {
  const args = readArguments(process.argv.slice(2));
  if (args === "help") print(USAGE.trimEnd());
  else if (args === "version") print(VERSION);
  else if (args === "list")
    for (const { id, severity, title, source } of rows)
      print(`${id.padEnd(10)} ${severity.padEnd(7)} ${title} [${source.name}]`);
  else process.exitCode = await run(args);
} catch (error) {
  if (!(error instanceof UsageError || error instanceof CannotRun || error instanceof RangeError)) throw error;
  process.stderr.write(`graphql-gauntlet: ${error.message}\n`);
  if (error instanceof UsageError) process.stderr.write('Run "graphql-gauntlet --help" for the options.\n');
  process.exitCode = 2;
}

async function run({ url, headers, timeoutSeconds, only, isJson, junit }: Arguments): Promise<0 | 1> {
  const report = await runGauntlet(url, {
    headers,
    timeoutSeconds,
    only,
    ...(isJson ? {} : { onResult: (result) => print(textResult(result)) }),
  });
  print(isJson ? JSON.stringify(jsonReport(report), null, 2) : textSummary(report));
  if (junit !== undefined) writeFileSync(junit, junitReport(report));
  return report.results.some(({ outcome }) => outcome === "failed") ? 1 : 0;
}

function jsonReport({ url, found, results, isDown }: Report): unknown {
  return {
    version: VERSION,
    specification: SPECIFICATION_DRAFT,
    url,
    found,
    isDown,
    results: results.map(({ row: { id, title, severity, source, why }, outcome, note, seconds }) => ({
      id,
      outcome,
      severity,
      title,
      note,
      why,
      source,
      seconds,
    })),
  };
}
