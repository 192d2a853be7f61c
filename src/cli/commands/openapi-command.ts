import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Command } from "commander";
import { CommandFailed, UsageError } from "../output/command-failed.ts";
import { documentResult, type Result, sentence } from "../output/result.ts";
import type { Call, RunCommand } from "./runner.ts";

interface OpenAPIFlags {
  readonly out?: string;
  readonly check?: string;
}

/** `portico openapi` */
export function openapiCommand(program: Command, run: RunCommand): void {
  program
    .command("openapi")
    .description("Prints the OpenAPI document of the application, writes it to a file, or checks the file.")
    .option("--out <file>", "write the document to this file")
    .option("--check <file>", "exit with code 1 if this file differs from the document of the application")
    .action(run<OpenAPIFlags>(openapi));
}

async function openapi({ project, options, cwd }: Call<OpenAPIFlags>): Promise<Result> {
  const { out, check } = options;
  if (out !== undefined && check !== undefined) throw new UsageError("--out and --check exclude each other");
  const document = (await project.app()).openapi();
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (check !== undefined) return compare(check, resolve(cwd, check), JSON.parse(text));
  if (out === undefined) return documentResult(text, document);
  await writeFile(resolve(cwd, out), text);
  return sentence(`wrote ${out}`, { wrote: out });
}

/** Compares the content, not the text, because a formatter may have changed the file. */
async function compare(name: string, file: string, current: unknown): Promise<Result> {
  const differences = [...differing(await readDocument(name, file), current, "")];
  const isCurrent = differences.length === 0;
  return {
    data: { file: name, isCurrent, differences },
    lines: isCurrent
      ? [`${name} is up to date`]
      : [`${name} differs from the application. Run portico openapi --out ${name}`, ...shortened(differences)],
    code: isCurrent ? 0 : 1,
  };
}

async function readDocument(name: string, file: string): Promise<unknown> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) throw new CommandFailed(`${name} cannot be read. Run portico openapi --out ${name}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandFailed(`${name} is not JSON. Run portico openapi --out ${name}`);
  }
}

/** The JSON pointers of the values that differ, at the greatest depth at which both sides have an object. */
function* differing(old: unknown, current: unknown, at: string): Generator<string> {
  if (isDeepStrictEqual(old, current)) return;
  if (!isRecord(old) || !isRecord(current)) return void (yield at || "/");
  for (const key of new Set([...Object.keys(old), ...Object.keys(current)]))
    yield* differing(old[key], current[key], `${at}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const SHOWN = 10;

function shortened(differences: readonly string[]): readonly string[] {
  const lines = differences.slice(0, SHOWN).map((pointer) => `  ${pointer}`);
  return differences.length > SHOWN ? [...lines, `  and ${differences.length - SHOWN} more`] : lines;
}
