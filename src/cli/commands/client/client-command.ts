import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { IDEMPOTENCY_KEY } from "../../../openapi/parameters.ts";
import type { PorticoApp } from "../../../portico-app.ts";
import type { Result } from "../../output/result.ts";
import { graphAt, graphsOf } from "../../project/graphs-of.ts";
import type { Call, RunCommand } from "../runner.ts";
import { pathsType } from "./paths-type.ts";

interface ClientFlags {
  readonly out: string;
  readonly check?: boolean;
  readonly path?: string;
}

/** `portico client` */
export function clientCommand(program: Command, run: RunCommand): void {
  program
    .command("client")
    .description(
      "Writes the types of the application for a client: the OpenAPI document, the GraphQL schema, and both as types.",
    )
    .requiredOption("--out <folder>", "the folder of the files")
    .option("--check", "write nothing, and exit with code 1 if a file in the folder is out of date")
    .option("--path <path>", "the path of the GraphQL endpoint, if the application has several")
    .action(run<ClientFlags>(client));
}

async function client({ project, options, cwd }: Call<ClientFlags>): Promise<Result> {
  const { out, check = false, path } = options;
  const files = await clientFiles(await project.app(), path);
  const folder = resolve(cwd, out);
  if (check) return compare(out, folder, files);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of files) await writeFile(join(folder, name), text);
  const wrote = [...files.keys()].map((name) => join(out, name));
  return { data: { wrote }, lines: wrote.map((name) => `wrote ${name}`) };
}

/** The files by their name. An application without a GraphQL endpoint has only those of the REST API. */
async function clientFiles(app: PorticoApp, path: string | undefined): Promise<ReadonlyMap<string, string>> {
  const document = app.openapi();
  const files = new Map([
    ["openapi.json", `${JSON.stringify(document, null, 2)}\n`],
    ["paths.d.ts", pathsType(document)],
  ]);
  const keyed = Object.entries(document.paths).flatMap(([url, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [] }]) =>
      parameters.some(({ name }) => name === IDEMPOTENCY_KEY) ? [`${method.toUpperCase()} ${url}`] : [],
    ),
  );
  if (path !== undefined || graphsOf(app).size > 0) {
    const [, { schema }] = graphAt(app, path);
    const [{ printSchema }, { introspectionType }, { idempotentMutations }] = await Promise.all([
      import("../../../graphql/schema/print-schema.ts"),
      import("../../../graphql/schema/introspection-type.ts"),
      import("../../../graphql/declare/fields/idempotent-extensions.ts"),
    ]);
    files.set("schema.graphql", printSchema(schema)).set("introspection.d.ts", introspectionType(schema));
    keyed.push(...idempotentMutations(schema).map((name) => `mutation ${name}`));
  }
  return keyed.length === 0 ? files : files.set("idempotent.ts", idempotentList(keyed));
}

/** The option `idempotent` of portico-client. */
function idempotentList(keyed: readonly string[]): string {
  const lines = keyed.toSorted().map((entry) => `  ${JSON.stringify(entry)},\n`);
  return `// Written by portico client. Do not edit.\n\nexport const idempotent: readonly string[] = [\n${lines.join("")}];\n`;
}

async function compare(out: string, folder: string, files: ReadonlyMap<string, string>): Promise<Result> {
  const stale: string[] = [];
  for (const [name, text] of files)
    if ((await readFile(join(folder, name), "utf8").catch(() => null)) !== text) stale.push(join(out, name));
  if (stale.length === 0) return { data: { stale }, lines: [`${out} is up to date`] };
  const lines = [
    `${out} differs from the application. Run portico client --out ${out}`,
    ...stale.map((name) => `  ${name}`),
  ];
  return { data: { stale }, lines, code: 1 };
}
