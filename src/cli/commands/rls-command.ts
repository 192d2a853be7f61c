import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { CommandFailed } from "../output/command-failed.ts";
import type { Result } from "../output/result.ts";
import type { Call, RunCommand } from "./runner.ts";

interface RlsFlags {
  readonly write?: string | true;
  readonly force?: true;
  readonly role?: string;
}

/** `portico rls` */
export function rlsCommand(program: Command, run: RunCommand): void {
  program
    .command("rls")
    .description(
      "Prints the rules of the guard as row-level security policies of PostgreSQL, or writes them to a migration.",
    )
    .option("--write [file]", "write a migration (default: row-level-security-<version>.ts)")
    .option(
      "--force",
      "apply the policies to the owner of the tables, too, for an application that connects as the owner",
    )
    .option(
      "--role <name>",
      "the role of the application; no other role may then execute the functions of the policies",
    )
    .action(run<RlsFlags>(rls));
}

async function rls({ project, options, cwd }: Call<RlsFlags>): Promise<Result> {
  const { policyStatements } = await import("../../sql/guard/policy-statements.ts");
  const { up, down } = await policyStatements(await project.database(), options.force === true, options.role ?? null);
  if (options.write === undefined) return { data: { up, down }, lines: up.map((statement) => `${statement};`) };
  const { digest } = await import("../../sql/guard/policy-expression.ts");
  const version = digest(up.join("\n"));
  const name = options.write === true ? `row-level-security-${version}.ts` : options.write;
  const file = resolve(cwd, name);
  // An applied migration must not change.
  if (existsSync(file)) {
    if ((await readFile(file, "utf8")).includes(statementsIn("up", up)))
      return { data: { file, version }, lines: [`${name} is up to date`] };
    throw new CommandFailed(
      `${name} has the policies of other rules: name another file, and add it to the end of your migrations`,
    );
  }
  await writeFile(file, migration(version, up, down));
  return { data: { file, version }, lines: [`wrote ${name}: add it to the end of your migrations`] };
}

function migration(version: string, up: readonly string[], down: readonly string[]): string {
  return `import { sql } from "kysely";

// The policies of the guard, written by portico rls --write. After a change of a rule, write another migration.

${statementsIn("up", up)}

// Brings back the policies that the database had before.
${statementsIn("down", down)}

/** @type {import("portico/sql").Migration} */
export const rowLevelSecurity = {
  name: "row_level_security_${version}",
  async up(database) {
    for (const statement of up) await sql.raw(statement).execute(database);
  },
  async down(database) {
    for (const statement of down) await sql.raw(statement).execute(database);
  },
};

export const migrations = [rowLevelSecurity];
`;
}

function statementsIn(variable: "up" | "down", statements: readonly string[]): string {
  return `const ${variable} = [${statements.map((statement) => `\n  ${JSON.stringify(statement)},`).join("")}\n];`;
}
