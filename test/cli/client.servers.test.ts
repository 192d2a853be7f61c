import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildSchema } from "graphql";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { COMPILER } from "../../scripts/package/compiler.ts";
import { runHere } from "./run-portico.ts";

const configOf = (name: string): string[] => ["--config", resolve(import.meta.dirname, `fixtures/${name}.config.ts`)];
const [shop, items] = [configOf("shop"), configOf("client")];

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "portico-client-"));
  onTestFinished(() => rm(cwd, { recursive: true }));
});

/** Compiles a module beside the files, and returns the errors of the compiler. */
async function errorsOf(code: string): Promise<string> {
  await writeFile(join(cwd, "api/use.ts"), code);
  const args = ["--ignoreConfig", "--strict", "--noEmit", "--module", "nodenext", "--types", "", "api/use.ts"];
  try {
    return execFileSync(process.execPath, [...COMPILER, ...args], { cwd, encoding: "utf8" });
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
}

describe("portico client", () => {
  it("writes the OpenAPI document, the schema, and the types of both", async () => {
    const { code, out } = await runHere(["client", "--out", "api", ...shop], { cwd });

    expect({ code, out }).toEqual({
      code: 0,
      out: "wrote api/openapi.json\nwrote api/paths.d.ts\nwrote api/schema.graphql\nwrote api/introspection.d.ts\n",
    });
    expect(JSON.parse(await readFile(join(cwd, "api/openapi.json"), "utf8"))).toMatchObject({ openapi: "3.1.0" });
    expect(buildSchema(await readFile(join(cwd, "api/schema.graphql"), "utf8")).getQueryType()?.name).toBe("Query");
    expect(
      await errorsOf(
        'import type { introspection } from "./introspection.d.ts"; export type A = introspection["__schema"];',
      ),
    ).toBe("");
  });

  it("writes only the files of the REST API for an application without GraphQL", async () => {
    await runHere(["client", "--out", "api", ...items], { cwd });

    expect(await readdir(join(cwd, "api"))).toEqual(["openapi.json", "paths.d.ts"]);
  });

  it("writes types that describe parameters, bodies and responses exactly", async () => {
    await runHere(["client", "--out", "api", ...items], { cwd });

    const errors = await errorsOf(`
      import type { paths } from "./paths.d.ts";
      type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
      type Flat<T> = T extends (...args: never) => unknown ? T : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
      type Post = paths["/items/{id}"]["post"];
      interface Item {
        id: string; kind: "a" | "b"; "odd-name": 5; either: string | number | null; maybe?: boolean;
        pair: [string, number]; many: ("x" | "y")[]; map: { [key: string]: number }; anything: unknown;
      }
      export const body: Same<Flat<Post["requestBody"]["content"]["application/json"]>, Flat<Item>> = true;
      export const path: Same<Post["parameters"]["path"], { id: string }> = true;
      export const query: Same<Post["parameters"]["query"], { dry?: boolean } | undefined> = true;
      export const nothing: Same<paths["/items/{id}"]["delete"]["responses"][204], { content?: never }> = true;
      // @ts-expect-error the kind is one of two
      export const wrong: Post["requestBody"]["content"]["application/json"]["kind"] = "c";
    `);

    expect(errors).toBe("");
  });

  it("checks whether the files are up to date", async () => {
    await runHere(["client", "--out", "api", ...shop], { cwd });
    const current = await runHere(["client", "--check", "--out", "api", ...shop], { cwd });
    await writeFile(join(cwd, "api/paths.d.ts"), "export type paths = never;");
    await rm(join(cwd, "api/schema.graphql"));
    const stale = await runHere(["client", "--check", "--out", "api", ...shop], { cwd });

    expect(current).toEqual({ code: 0, out: "api is up to date\n", err: "" });
    expect(stale).toEqual({
      code: 1,
      out: "api differs from the application. Run portico client --out api\n  api/paths.d.ts\n  api/schema.graphql\n",
      err: "",
    });
    expect(await readdir(join(cwd, "api"))).toEqual(["introspection.d.ts", "openapi.json", "paths.d.ts"]);
  });

  it("needs a folder, and a path if there are several endpoints", async () => {
    expect(await runHere(["client", ...shop], { cwd })).toMatchObject({ code: 2 });
    expect(await runHere(["client", "--out", "api", ...configOf("two-graphs")], { cwd })).toMatchObject({
      code: 2,
      err: expect.stringMatching(/several GraphQL endpoints/),
    });
  });
});
