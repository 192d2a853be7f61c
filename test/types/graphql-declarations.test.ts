import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";

const root = resolve(import.meta.dirname, "../..");
const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

it("the exports of a user can be emitted as declarations", { timeout: 60_000 }, () => {
  const outDir = join(root, ".cache/declarations");
  rmSync(outDir, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  const compilerOptions = {
    noEmit: false,
    emitDeclarationOnly: true,
    isolatedDeclarations: false,
    rootDir: root,
    outDir,
  };
  const files = [join(import.meta.dirname, "fixtures/graphql-declared.ts")];
  writeFileSync(
    join(outDir, "tsconfig.json"),
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: [], exclude: [], files }),
  );

  const { stdout } = spawnSync(process.execPath, [compiler, "-p", join(outDir, "tsconfig.json"), "--pretty", "false"], {
    encoding: "utf8",
  });
  const written = readFileSync(join(outDir, "test/types/fixtures/graphql-declared.d.ts"), "utf8");

  expect(stdout.split("\n").filter((line) => line.includes("graphql-declared"))).toEqual([]);
  expect(written).toContain('export declare const Genre: import("portico/graphql").EnumType<"novel" | "poetry">');
  expect(written).toContain("FieldDef<BookRow, ");
});
