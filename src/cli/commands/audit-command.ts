import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { AccessWarning } from "../../audit/surface/warnings-of.ts";
import type { AccessChange } from "../../audit/table/access-file.ts";
import { placeText, resultText } from "../../audit/table/access-summary.ts";
import type { AccessRow } from "../../audit/table/access-table.ts";
import { isProduction } from "../../core/env.ts";
import { ACCESS_FILE, accessReport, auditText } from "../output/access-report.ts";
import { CommandFailed, UsageError } from "../output/command-failed.ts";
import type { Result } from "../output/result.ts";
import { tableLines } from "../output/table-lines.ts";
import type { Call, RunCommand } from "./runner.ts";

interface AuditFlags {
  readonly write?: string | true;
  readonly check?: string | true;
  readonly html?: string | true;
  readonly attack?: true;
  readonly public?: true;
  readonly writes?: true;
  readonly role?: string;
}

const PAGE = "access.html";
/** The width of the table in a file or a pipe, and the most on a terminal. */
const MAX_WIDTH = 120;

/** `portico audit` */
export function auditCommand(program: Command, run: RunCommand): void {
  program
    .command("audit")
    .description("Shows who may reach each route, socket, field, type and list, and warns of risks.")
    .option("--write [file]", `write the table to a file, to be committed (default: ${ACCESS_FILE})`)
    .option(
      "--check [file]",
      `exit with code 1 if the application differs from the committed file or has a new warning (default: ${ACCESS_FILE})`,
    )
    .option("--html [file]", `write the table as an HTML page, for an auditor (default: ${PAGE})`)
    .option("--public", "show only the places that are open to anyone")
    .option("--writes", "show only the places that change something")
    .option("--role <name>", "show only the places that a role of the configuration opens")
    .option("--attack", "send requests as callers without access, over every transport; not for production")
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
  const blind = report.gaps.length + (options.check === undefined ? 0 : report.unreached.length);
  return {
    data: { ...(declared.data as object), attack: report },
    lines: [...declared.lines, ...attackLines(report)],
    code: declared.code === 1 || report.differences.length + blind > 0 ? 1 : 0,
  };
}

async function auditDeclaration({ project, options, cwd, width }: Call<AuditFlags>): Promise<Result> {
  if (options.write !== undefined && options.check !== undefined)
    throw new UsageError("pass either --write or --check: a file that was just written always matches");
  const isFiltered = (options.public ?? options.writes ?? options.role) !== undefined;
  if (isFiltered && (options.write !== undefined || options.check !== undefined))
    throw new UsageError(
      "--public, --writes and --role show a part of the table: leave them out with --write and --check",
    );
  const app = await project.app();
  const { users = null, database, roles: declared = {} } = await project.config();
  const roles = Object.entries(declared).map(([name, permissions]) => ({ name, permissions }));
  if (options.role !== undefined && !Object.hasOwn(declared, options.role))
    throw new UsageError(`the configuration has no role ${JSON.stringify(options.role)}`);
  const { accessTable } = await import("../../audit/table/access-table.ts");
  const { accessChanges, accessFile, newWarnings } = await import("../../audit/table/access-file.ts");
  const { warningsOf } = await import("../../audit/surface/warnings-of.ts");
  // Imported only for a database, because an application without one need not have kysely.
  const guard =
    typeof database === "object"
      ? await (await import("../../audit/guard/guard-report.ts")).guardReport(database)
      : null;
  const table = [...(await accessTable(app, users, roles)), ...(guard?.rows ?? [])];
  // Where there is no database, the gap can be accepted like a warning.
  const gaps =
    typeof guard?.gap === "string" ? [{ place: "the database", sentence: `is not checked: ${guard.gap}` }] : [];
  const warnings = [...(await warningsOf(app)), ...(guard?.warnings ?? []), ...gaps];
  const changesSinceReview = async (): Promise<readonly AccessChange[] | null> => {
    const file = await readFile(resolve(cwd, ACCESS_FILE), "utf8").catch(() => null);
    return file === null ? null : accessChanges(table, file);
  };
  if (options.write !== undefined) {
    const name = options.write === true ? ACCESS_FILE : options.write;
    const before = await readFile(resolve(cwd, name), "utf8").catch(() => null);
    await writeFile(resolve(cwd, name), accessFile(table, warnings, before));
    return {
      data: { table, warnings },
      lines: [`wrote ${name}: ${auditText(table)}`, ...warningLines(warnings)],
    };
  }
  if (options.html !== undefined) {
    const name = options.html === true ? PAGE : options.html;
    const changes = await changesSinceReview();
    const { accessHtml } = await import("../../audit/table/access-html.ts");
    const page = { title: app.settings.title, rows: table, warnings, roles: roles.map((role) => role.name), changes };
    await writeFile(resolve(cwd, name), accessHtml(page));
    return { data: { table, warnings, changes }, lines: [`wrote ${name}: ${auditText(table)}`] };
  }
  if (options.check === undefined) {
    const shown = table.filter((row) => isShown(row, options));
    const columns = Math.min(width ?? MAX_WIDTH, MAX_WIDTH);
    return {
      data: { table: shown, warnings },
      lines: [
        ...accessReport(table, await changesSinceReview(), columns),
        ...warningLines(warnings),
        ...accessLines(shown, Object.keys(declared), columns),
      ],
    };
  }
  const name = options.check === true ? ACCESS_FILE : options.check;
  const file = await committed(resolve(cwd, name), name);
  const [changes, added] = [accessChanges(table, file), newWarnings(warnings, file)];
  return {
    data: { table, warnings: added, changes },
    lines: [...changeLines(changes, name), ...warningLines(added), auditText(table)],
    code: changes.length === 0 && added.length === 0 ? 0 : 1,
  };
}

async function committed(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    throw new CommandFailed(
      `${name} does not exist. Run portico audit --write${name === ACCESS_FILE ? "" : ` ${name}`}, review the file and commit it`,
    );
  }
}

/** The places of the application before those of Portico, each with a column per role, or with its permissions. */
function accessLines(rows: readonly AccessRow[], roles: readonly string[], width: number): readonly string[] {
  return [false, true].flatMap((isBuiltIn) => {
    const listed = rows.filter((row) => row.isBuiltIn === isBuiltIn);
    if (listed.length === 0) return [];
    const cells = listed.map((row) => ({
      place: placeText(row),
      gate: row.gate,
      anonymous: resultText(row.anonymous, row),
      signedIn: resultText(row.signedIn, row),
      grants: row.grants.map((grant) => grantText(grant, row)),
      ...Object.fromEntries(roles.map((role) => [`role ${role}`, resultText(row.roles[role] ?? "-", row)])),
    }));
    const others =
      roles.length === 0
        ? { gate: "gate", anonymous: "anonymous", signedIn: "signed in", grants: "with permission" }
        : {
            anonymous: "anonymous",
            signedIn: "signed in",
            ...Object.fromEntries(roles.map((role) => [`role ${role}`, role])),
          };
    const title = isBuiltIn ? "Places of Portico" : "Places of this application";
    return ["", title, ...tableLines(cells, { place: "place", ...others }, width)];
  });
}

/** `sell:books: seller_id = caller`, with the sentence of the rule. */
function grantText(grant: string, row: AccessRow): string {
  const at = grant.indexOf(": ", grant.lastIndexOf(" + ") + 1);
  return `${grant.slice(0, at)}: ${resultText(grant.slice(at + 2), row)}`;
}

function isShown(row: AccessRow, { public: isPublic, writes, role }: AuditFlags): boolean {
  if (isPublic === true && row.anonymous === "no") return false;
  if (writes === true && !row.isWrite) return false;
  return role === undefined || (row.roles[role] !== "no" && row.roles[role] !== row.anonymous);
}

function changeLines(changes: readonly AccessChange[], name: string): readonly string[] {
  if (changes.length === 0) return [`the application matches ${name}`];
  const advice = `If this is intended, run portico audit --write and commit ${name}.`;
  return [...changes.map(({ sentence }) => sentence), advice, ""];
}

function warningLines(warnings: readonly AccessWarning[]): readonly string[] {
  return warnings.map(({ place, sentence }) => `warning: ${place} ${sentence}`);
}
