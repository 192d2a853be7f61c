import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

interface Finding {
  readonly filename: string;
  readonly code: string;
  readonly message: string;
}

const refused: readonly (readonly [file: string, code: string, reason: string])[] = [
  ["src/core/a.ts", 'import "../stores/x.ts";', "src/core/ may import nothing of ours, not src/stores"],
  ["src/stores/a.ts", 'import "../http/x.ts";', "src/stores/ may import core, not src/http"],
  ["src/dependencies/a.ts", 'import "../stores/x.ts";', "src/dependencies/ may import core, not src/stores"],
  ["src/pagination/a.ts", 'import type { X } from "../http/x.ts";', "src/pagination/ may import core"],
  ["src/pagination/b.ts", 'export * from "../http/x.ts";', "src/pagination/ may import core"],
  ["src/pagination/c.ts", 'export type { X } from "../http/x.ts";', "src/pagination/ may import core"],
  ["src/pagination/d.ts", 'export const x = import("../http/x.ts");', "src/pagination/ may import core"],
  ["src/pagination/e.ts", 'export type X = import("../http/x.ts").X;', "src/pagination/ may import core"],
  [
    "src/http/a.ts",
    'import "../auth/x.ts";',
    "src/http/ may import core, stores, dependencies, pagination, not src/auth",
  ],
  ["src/http/b.ts", 'import "../portico-app.ts";', "not src/portico-app.ts"],
  ["src/http/deep/c.ts", 'import "../../graphql/x.ts";', "not src/graphql"],
  [
    "src/http/context/a.ts",
    'import "../routing/x.ts";',
    "src/http/context/ may import access, exceptions, hooks, identity, limits, pages, not src/http/routing",
  ],
  ["src/http/pages/a.ts", 'import type { X } from "../context/x.ts";', "src/http/pages/ may import nothing of ours"],
  [
    "src/http/limits/a.ts",
    'import "../serving/x.ts";',
    "src/http/limits/ may import context, exceptions, routing, not",
  ],
  ["src/http/attic/a.ts", 'import "../context/x.ts";', "src/http/attic/ has no layer yet"],
  ["src/openapi/a.ts", 'import "../auth/x.ts";', "src/openapi/ may import core, http, not src/auth"],
  ["src/auth/a.ts", 'import "../graphql/x.ts";', "src/auth/ may import core, stores, http, not src/graphql"],
  ["src/graphql/a.ts", 'import "../auth/x.ts";', "not src/auth"],
  ["src/redis/d.ts", 'import "../http/engine/engine.ts";', "not src/http"],
  ["src/sql/a.ts", 'import "../graphql/graph.ts";', "not src/graphql"],
  ["src/redis/a.ts", 'import "../graphql/x.ts";', "not src/graphql"],
  ["src/attic/a.ts", 'import "../core/x.ts";', "src/attic/ has no layer yet"],
  ["src/core/b.ts", 'import "../../test/x.ts";', "src/ imports nothing that is outside src/"],
  ["src/core/c.ts", 'import "portico/testing";', "not through an entry point"],
  ["src/http/d.ts", 'import fastify from "fastify"; fastify();', "only src/http/engine/ imports fastify"],
  ["src/http/e.ts", 'import type { FastifyRequest } from "fastify";', "only src/http/engine/ imports fastify"],
  ["src/http/f.ts", 'import "@fastify/cors";', "only src/http/engine/ imports @fastify/cors"],
  ["src/http/g.ts", 'declare module "fastify" {}', "only src/http/engine/ imports fastify"],
  ["src/portico-app.ts", 'import "light-my-request";', "only src/http/engine/ imports light-my-request"],
  ["src/testing/a.ts", 'import "graphql/utilities/index.js";', "only src/graphql/ imports graphql"],
  ["src/auth/b.ts", 'import "kysely";', "only src/sql/ imports kysely"],
  ["src/auth/c.ts", 'import "redis";', "only src/redis/ imports redis"],
  ["src/auth/d.ts", 'import "@nats-io/transport-node";', "only src/nats/ imports @nats-io/transport-node"],
  ["examples/shop/main.ts", 'import "../../src/portico-app.ts";', "an example uses the public entry points only"],
];

const allowed: readonly (readonly [file: string, code: string])[] = [
  ["src/stores/ok.ts", 'import { x } from "../core/x.ts"; export const y: number = x;'],
  ["src/stores/memory/ok.ts", 'import "../ok.ts";'],
  ["src/http/ok.ts", 'import "../pagination/x.ts";'],
  ["src/http/context/ok.ts", 'import "../identity/x.ts"; import "../../stores/x.ts";'],
  ["src/http/serving/ok.ts", 'import "../engine/x.ts"; import "../routing/x.ts";'],
  ["src/http/engine/engine.ts", 'import "fastify";'],
  ["src/http/parts.ts", 'import "@fastify/busboy";'],
  ["src/auth/ok.ts", 'import type { X } from "../http/x.ts"; export type Y = X;'],
  ["src/auth/index.ts", 'import "../pagination/x.ts";'],
  ["src/types/sql/index.ts", 'import "../../sql/x.ts"; import "../index.ts";'],
  ["src/graphql/ok.ts", 'import "../dependencies/x.ts"; import "graphql";'],
  [
    "src/sql/ok.ts",
    'import "../auth/x.ts"; import "../http/context/current-context.ts"; import "kysely"; import "node:sqlite";',
  ],
  ["src/redis/ok.ts", 'import "../stores/x.ts"; import "redis";'],
  ["src/testing/ok.ts", 'import "../portico-app.ts"; import "../graphql/x.ts";'],
  ["src/index.ts", 'import "./portico-app.ts"; import "./openapi/x.ts";'],
  ["examples/shop/ok.ts", 'import "portico"; import "./main.ts";'],
  ["test/ok.ts", 'import "../src/core/x.ts"; import "fastify";'],
];

const misnamed: readonly (readonly [file: string, code: string, reason: string])[] = [
  ["src/core/utils.ts", "export const utils = 1;", "name the file after what it exports"],
  ["src/core/size.ts", "export const length = 1;", "name the file after its main export (length)"],
  ["src/core/env.ts", 'export { env } from "./environment.ts";', "name the file after its main export (it has none)"],
];

const named: readonly (readonly [file: string, code: string])[] = [
  ["src/core/key-ring.ts", "export interface KeyRingOptions {}\nexport class KeyRing {}"],
  ["src/core/cut.ts", "function cut(): void {}\nexport { cut };"],
  ["src/core/most-errors.ts", "export const MOST_ERRORS = 1;"],
  ["src/core/index.ts", "export const x = 1;"],
];

const unsteady: readonly (readonly [file: string, code: string, reason: string])[] = [
  ["test/a.test.ts", "export const took = performance.now();", "performance.now measures how busy the machine is"],
  [
    "test/b.test.ts",
    "export const took = globalThis.performance.now();",
    "what has to be measured is a *.quiet.test.ts",
  ],
  ["test/deep/c.ts", "export const took = process.hrtime.bigint();", "process.hrtime measures how busy the machine is"],
  ["examples/shop/test/d.test.ts", "export const seed = Math.random();", "Math.random differs in each run"],
  ["test/e.test.ts", "export const seed = Date.now() % 1000;", "Date.now() as a seed differs in each run"],
  ["test/f.test.ts", "export const isLate = (end: number): boolean => Date.now() > end;", "an elapsed time depends on"],
  ["test/g.test.ts", "export const isLate = (began: number): boolean => Date.now() - began > 9;", "count events"],
  ["test/h.test.ts", "expect(Math.abs(began - Date.now())).toBeLessThan(9);", "wait for the outcome with expect.poll"],
  ["test/i.test.ts", "export const done = vi.waitFor(() => true);", "it gives up after 1 s"],
];

const steady: readonly (readonly [file: string, code: string])[] = [
  ["test/a.quiet.test.ts", "export const took = performance.now();"],
  ["test/block-thread.ts", "export const end = performance.now() + 1;"],
  ["scripts/a.ts", "export const took = performance.now();"],
  ["src/core/now.ts", "export const now = (): boolean => Date.now() > 1;"],
  ["test/j.test.ts", "export const expiry = new Date(Date.now() - 60_000);"],
  ["test/k.test.ts", "export const iat = Math.floor(Date.now() / 1000) - 120;"],
  ["test/l.test.ts", "export const done = vi.waitFor(() => true, 60_000);"],
];

const keptTooLong: readonly (readonly [file: string, code: string])[] = [
  ["src/http/a-memo.ts", "export const aMemo: WeakMap<BaseContext, boolean> = new WeakMap();"],
  ["src/http/b-memo.ts", "export const bMemo = new Map<GraphContext<unknown>, boolean>();"],
  ["src/auth/c-memo.ts", "const known = new WeakMap();\nexport const cMemo = (ctx: object) => known.get(ctx);"],
  ["src/auth/d-memo.ts", "export const dMemo = (known: Set<object>, one: Graph) => known.has(one.connection);"],
];

const keptForTheQuestion: readonly (readonly [file: string, code: string])[] = [
  ["src/http/e-memo.ts", "export const eMemo = (ctx: object) => memoOf(ctx, eMemo, () => new Map<string, boolean>());"],
  ["src/http/f-memo.ts", "export const fMemo: WeakMap<AppServices, boolean> = new WeakMap();"],
  ["src/http/context/end-left-open.ts", "export const endLeftOpen = new WeakMap<BaseContext, boolean>();"],
];

const root = resolve(import.meta.dirname, "..");
const oxlint = join(dirname(createRequire(import.meta.url).resolve("oxlint/package.json")), "bin/oxlint");
let house: string;
let findings: Finding[];

beforeAll(() => {
  house = mkdtempSync(join(tmpdir(), "portico-layers-"));
  for (const [file, code] of [
    ...refused,
    ...allowed,
    ...misnamed,
    ...named,
    ...unsteady,
    ...steady,
    ...keptTooLong,
    ...keptForTheQuestion,
  ]) {
    mkdirSync(join(house, dirname(file)), { recursive: true });
    writeFileSync(join(house, file), `${code}\n`);
  }
  findings = lint();
});

afterAll(() => rmSync(house, { recursive: true, force: true }));

describe("the layers of src/", () => {
  it.each(refused)("reject, in %s, %s", (file, _, reason) => {
    expect(of("layers", file)).toEqual([expect.objectContaining({ message: expect.stringContaining(reason) })]);
  });

  it.each(allowed)("allow, in %s, %s", (file) => {
    expect(of("layers", file)).toEqual([]);
  });

  it("make the linter fail", () => {
    expect(() => run("src/core/a.ts")).toThrow("Command failed");
    expect(() => run("test/ok.ts")).not.toThrow();
  });
});

describe("the names of the files of src/", () => {
  it.each(misnamed)("reject, in %s, %s", (file, _, reason) => {
    expect(of("file-names", file)).toEqual([expect.objectContaining({ message: expect.stringContaining(reason) })]);
  });

  it.each(named)("allow, in %s, %s", (file) => {
    expect(of("file-names", file)).toEqual([]);
  });
});

describe("the result of a test", () => {
  it.each(unsteady)("must not depend on the machine or on chance: %s, %s", (file, _, reason) => {
    expect(of("same-verdict", file)).toEqual([expect.objectContaining({ message: expect.stringContaining(reason) })]);
  });

  it.each(steady)("may be made with %s, %s", (file) => {
    expect(of("same-verdict", file)).toEqual([]);
  });
});

describe("answers", () => {
  it.each(keptTooLong)("must not be kept per context: %s, %s", (file) => {
    expect(of("kept-per-context", file)).toEqual([
      expect.objectContaining({ message: expect.stringContaining("use memoOf") }),
    ]);
  });

  it.each(keptForTheQuestion)("may be kept: %s, %s", (file) => {
    expect(of("kept-per-context", file)).toEqual([]);
  });
});

it("no folder of src, and none below test, holds more than 25 files", () => {
  const folders = Map.groupBy(globSync("{src,test/*}/**/*.ts", { cwd: root }), (file) => dirname(file));
  const crowded = [...folders].filter(([, files]) => files.length > 25).map(([folder]) => folder);

  expect(folders.size).toBeGreaterThan(100);
  expect(crowded).toEqual([]);
});

function of(rule: string, file: string): readonly Finding[] {
  return findings.filter(({ code, filename }) => code === `portico(${rule})` && filename === file);
}

// The repository's own configuration, run over the fixture as if it were the repository.
function run(...files: string[]): string {
  return execFileSync(process.execPath, [oxlint, "-c", join(root, ".oxlintrc.json"), "-f", "json", ...files], {
    cwd: house,
    encoding: "utf8",
    // The fixture has no node_modules in which oxlint would look for its type-aware half.
    env: { ...process.env, PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"]}` },
  });
}

function lint(): Finding[] {
  try {
    run();
  } catch (error) {
    const { diagnostics } = JSON.parse((error as { stdout: string }).stdout) as { diagnostics: Finding[] };
    return diagnostics.filter(({ code }) => code.startsWith("portico("));
  }
  throw new Error("the linter found nothing in the fixture");
}
