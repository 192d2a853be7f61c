import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { AccessWarning } from "../../audit/surface/warnings-of.ts";
import type { AccessChange } from "../../audit/table/access-file.ts";
import type { AccessRow } from "../../audit/table/access-table.ts";
import { isProduction } from "../../core/env.ts";
import { CommandFailed, UsageError } from "../output/command-failed.ts";
import type { Result } from "../output/result.ts";
import { tableLines } from "../output/table.ts";
import type { Call, RunCommand } from "./runner.ts";

interface AuditFlags {
  readonly write?: string | true;
  readonly check?: string | true;
  readonly attack?: true;
}

const FILE = "access.md";

/** `portico audit` */
export function auditCommand(program: Command, run: RunCommand): void {
  program
    .command("audit")
    .description("Shows who may reach each route, socket, field, type and list, and warns of dangers.")
    .option("--write [file]", `write the table to a file, to be committed; default: ${FILE}`)
    .option("--check [file]", `fail if the application differs from the committed file; default: ${FILE}`)
    .option("--attack", "also send requests as callers without access, over every transport; not for production")
    .action(run<AuditFlags>(audit));
}

async function audit(call: Call<AuditFlags>): Promise<Result> {
  const { project, options } = call;
  if (options.attack === true && isProduction()) throw new CommandFailed("--attack is not for production");
  const declared = await auditDeclaration(call);
  if (options.attack !== true) return declared;
  const { attack } = await import("../../audit/attack/attack.ts");
  const { attackLines } = await import("../../audit/attack/attack-lines.ts");
  const report = await attack(await project.app(), (await project.config()).attack);
  return {
    data: { ...(declared.data as object), attack: report },
    lines: [...declared.lines, ...attackLines(report)],
    code: declared.code === 1 || report.differences.length + report.gaps.length > 0 ? 1 : 0,
  };
}

async function auditDeclaration({ project, options, cwd }: Call<AuditFlags>): Promise<Result> {
  if (options.write !== undefined && options.check !== undefined)
    throw new UsageError("pass either --write or --check: a file that was just written always matches");
  const app = await project.app();
  const { users = null, database } = await project.config();
  const { accessTable } = await import("../../audit/table/access-table.ts");
  const { accessChanges, accessFile, newWarnings } = await import("../../audit/table/access-file.ts");
  const { warningsOf } = await import("../../audit/surface/warnings-of.ts");
  // Imported only for a database, because an application without one need not have kysely.
  const guard =
    typeof database === "object"
      ? await (await import("../../audit/guard/guard-report.ts")).guardReport(database)
      : null;
  const table = [...(await accessTable(app, users)), ...(guard?.rows ?? [])];
  const warnings = [...(await warningsOf(app)), ...(guard?.warnings ?? [])];
  const gaps = typeof guard?.gap === "string" ? [`note: ${guard.gap}`] : [];
  if (options.write !== undefined) {
    const name = options.write === true ? FILE : options.write;
    await writeFile(resolve(cwd, name), accessFile(table, warnings));
    return {
      data: { table, warnings },
      lines: [`wrote ${name}: ${summary(table)}`, ...warningLines(warnings), ...gaps],
    };
  }
  if (options.check === undefined)
    return {
      data: { table, warnings },
      lines: [...accessLines(table), ...warningLines(warnings), ...gaps, "", summary(table)],
    };
  const name = options.check === true ? FILE : options.check;
  const file = await committed(resolve(cwd, name), name);
  const [changes, added] = [accessChanges(table, file), newWarnings(warnings, file)];
  return {
    data: { table, warnings: added, changes },
    lines: [...changeLines(changes, name), ...warningLines(added), ...gaps, summary(table)],
    code: changes.length === 0 && added.length === 0 ? 0 : 1,
  };
}

async function committed(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    throw new CommandFailed(
      `${name} does not exist. Run portico audit --write${name === FILE ? "" : ` ${name}`}, review the file and commit it`,
    );
  }
}

function accessLines(rows: readonly AccessRow[]): readonly string[] {
  return tableLines(rows, {
    kind: "kind",
    place: "place",
    gate: "gate",
    anonymous: "anonymous",
    signedIn: "signed in",
    grants: "with permission",
  });
}

function changeLines(changes: readonly AccessChange[], name: string): readonly string[] {
  if (changes.length === 0) return [`the application matches ${name}`];
  const advice = `If this is intended, run portico audit --write and commit ${name}.`;
  return [...changes.map(({ sentence }) => sentence), advice, ""];
}

function warningLines(warnings: readonly AccessWarning[]): readonly string[] {
  return warnings.map(({ place, sentence }) => `warning: ${place} ${sentence}`);
}

function summary(rows: readonly AccessRow[]): string {
  const open = rows.filter(({ kind, anonymous }) => kind !== "list" && kind !== "type" && anonymous === "yes").length;
  return `audit: ${rows.length} places, ${open} open to anyone`;
}
