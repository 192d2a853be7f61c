import type { Command } from "commander";
import { documentResult, type Result } from "../../output/result.ts";
import { tableLines } from "../../output/table-lines.ts";
import { graphAt } from "../../project/graphs-of.ts";
import { collect } from "../collect.ts";
import type { Call, RunCommand } from "../runner.ts";
import { compareSchemas, type Level } from "./compare-schemas.ts";
import { readOldSchema } from "./read-old-schema.ts";

interface SchemaFlags {
  readonly path?: string;
}

interface CheckFlags extends SchemaFlags {
  readonly header: readonly string[];
}

/** `portico schema` */
export function schemaCommands(program: Command, run: RunCommand): void {
  const group = program.command("schema").description("Prints the GraphQL schema, or compares it with an older one.");
  const PATH = ["--path <path>", "the path of the GraphQL endpoint, if the application has several"] as const;
  group
    .command("print")
    .description("Prints the schema as SDL, sorted by name.")
    .option(...PATH)
    .action(run<SchemaFlags>(print));
  group
    .command("check")
    .description("Lists the changes since an older schema. Exits with code 1 if one of them breaks clients.")
    .argument("<old>", "the older schema: a file with SDL or an introspection result, or the URL of an endpoint")
    .option(...PATH)
    .option(
      "--header <text>",
      'a header for the URL, such as "authorization: Bearer ..."; may be repeated',
      collect,
      [],
    )
    .action(run<CheckFlags>(check));
}

async function print({ project, options }: Call<SchemaFlags>): Promise<Result> {
  const [path, { schema }] = graphAt(await project.app(), options.path);
  const { printSchema } = await import("../../../graphql/schema/print-schema.ts");
  const sdl = printSchema(schema);
  return documentResult(sdl, { path, sdl });
}

async function check({ project, options, cwd, width, words: [old = ""] }: Call<CheckFlags>): Promise<Result> {
  const [, { schema }] = graphAt(await project.app(), options.path);
  const changes = await compareSchemas(await readOldSchema(old, cwd, options.header), schema);
  const count = (level: Level): number => changes.filter((change) => change.level === level).length;
  const counts = { breaking: count("breaking"), dangerous: count("dangerous"), safe: count("safe") };
  return {
    data: { ...counts, changes },
    lines:
      changes.length === 0
        ? ["no changes"]
        : [...tableLines(changes, { level: "level", message: "change" }, width), "", summary(counts)],
    code: counts.breaking > 0 ? 1 : 0,
  };
}

function summary({ breaking, dangerous, safe }: Readonly<Record<Level, number>>): string {
  return `${breaking} breaking, ${dangerous} dangerous and ${safe} safe changes`;
}
