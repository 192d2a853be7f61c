import { execFile } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "../../scripts/package/built-package.ts";
import { COMPILER } from "../../scripts/package/compiler.ts";

describe("TypeScript can write declarations of an application that exports", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await folderWithPackage("declarations");
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  });

  it.each([
    [
      "fields and GraphQL types",
      "graphql-declared",
      'const Genre: import("portico/graphql").EnumType<"novel" | "poetry">',
      'const title: import("portico/graphql").FieldDef<BookRow, ',
      'const factory: import("portico/types/graphql").FieldFactory<',
    ],
    [
      "connections, without a module that imports portico itself",
      "connections-declared",
      'const factory: import("portico/types/graphql").ConnectionFactory<BookRow, ',
      'import("portico/types").MaybePromise<readonly BookRow[] | import("portico/pagination").DataHandler<BookRow>>',
    ],
    [
      "routes and dependencies",
      "routes-declared",
      'const get: import("portico/types").RouteMethod<"", PorticoApp, import("portico").Gate<',
      '=> import("portico").TypedResponse<import("portico/types").PageOf<BookRow, "cursor">, 200>',
      'depend: import("portico/types").DependFunction<',
    ],
    [
      "middleware, gates and users",
      "middleware-declared",
      'const check: (ctx: BaseContext) => import("portico/types").MaybePromise<void>',
      'const Member: import("portico/types/sql").UserClass<UserTable & {',
    ],
  ])("%s", async (_exported, fixture, ...written) => {
    const { faults, declarations } = await compile(folder, fixture);

    expect(faults).toBe("");
    for (const line of written) expect(declarations).toContain(line);
  });
});

/** Compiles a fixture as a program by itself, so that only the entry points it imports are loaded. */
async function compile(folder: string, fixture: string): Promise<{ faults: string; declarations: string }> {
  await cp(join(import.meta.dirname, "fixtures", `${fixture}.ts`), join(folder, `${fixture}.ts`));
  const config = join(folder, `tsconfig.${fixture}.json`);
  const compilerOptions = {
    target: "ES2024",
    lib: ["ESNext"],
    module: "nodenext",
    types: ["node"],
    strict: true,
    skipLibCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
  };
  await writeFile(config, JSON.stringify({ compilerOptions, files: [`${fixture}.ts`] }));
  const faults = await promisify(execFile)(process.execPath, [...COMPILER, "-p", config, "--pretty", "false"]).then(
    () => "",
    (error: unknown) => String((error as { readonly stdout?: unknown }).stdout ?? error),
  );
  return { faults, declarations: await readFile(join(folder, `${fixture}.d.ts`), "utf8") };
}
