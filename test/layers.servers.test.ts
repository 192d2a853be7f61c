import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exceptions } from "../scripts/lint/client-sized-work.ts";

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
    "src/http/ may import core, stores, dependencies, pagination, kernel, not src/auth",
  ],
  ["src/http/b.ts", 'import "../portico-app.ts";', "not src/portico-app.ts"],
  ["src/http/deep/c.ts", 'import "../../graphql/x.ts";', "not src/graphql"],
  [
    "src/kernel/context/a.ts",
    'import "../limits/x.ts";',
    "src/kernel/context/ may import access, events, exchange, hooks, identity, leaks, load, pages, not src/kernel/limits",
  ],
  [
    "src/kernel/pages/a.ts",
    'import type { X } from "../context/x.ts";',
    "src/kernel/pages/ may import nothing of ours",
  ],
  ["src/kernel/load/a.ts", 'import "../context/x.ts";', "src/kernel/load/ may import exceptions, exchange, not"],
  [
    "src/kernel/a.ts",
    'import "../http/messages/x.ts";',
    "src/kernel/ may import core, stores, dependencies, pagination, not",
  ],
  [
    "src/http/messages/a.ts",
    'import "../routing/x.ts";',
    "src/http/messages/ may import html, text, not src/http/routing",
  ],
  ["src/sql/b.ts", 'import "../http/routing/x.ts";', "not src/http"],
  ["src/pagination/f.ts", 'import "./keys/x.ts";', "src/pagination/ has layers: move the file into one of its folders"],
  ["src/pagination/keys/a.ts", 'import "../query/x.ts";', "src/pagination/keys/ may import nothing of ours"],
  [
    "src/sql/queries/a.ts",
    'import "../lists/x.ts";',
    "src/sql/queries/ may import database, guard, statements, not src/sql/lists",
  ],
  ["src/auth/accounts/a.ts", 'import "../pages/x.ts";', "tokens, users, not src/auth/pages"],
  ["src/http/attic/a.ts", 'import "../text/x.ts";', "src/http/attic/ has no layer yet"],
  ["src/openapi/a.ts", 'import "../auth/x.ts";', "src/openapi/ may import core, kernel, http, not src/auth"],
  ["src/auth/a.ts", 'import "../graphql/x.ts";', "src/auth/ may import core, stores, kernel, http, not src/graphql"],
  ["src/graphql/a.ts", 'import "../auth/x.ts";', "not src/auth"],
  [
    "src/graphql/admit/a.ts",
    'import "../pipeline/x.ts";',
    "src/graphql/admit/ may import documents, errors, execute, hooks, limits, operation, request, selection, not",
  ],
  [
    "src/graphql/errors/a.ts",
    'import type { X } from "../declare/fields/x.ts";',
    "src/graphql/errors/ may import nothing of ours, not src/graphql/declare",
  ],
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
  ["examples/shop/src/a.ts", 'import "../../../test/x.ts";', "only tests import test/"],
  ["packages/tool/src/a.ts", 'import "../../../test/x.ts";', "only tests import test/"],
  ["a.config.ts", 'import "./test/x.ts";', "only tests import test/"],
  ["scripts/b.ts", 'import type { X } from "../test/x.ts";', "only tests import test/"],
  ["lab/soak.ts", 'import "../test/x.ts";', "only tests import test/"],
  ["lab/soak/a.ts", 'export const x = import("../../test/redis/x.ts");', "only tests import test/"],
  ["lab/servers/a.ts", 'import "../../test/x.ts";', "only tests import test/"],
  ["scripts/c.ts", 'import type { X } from "../lab/figures.ts";', "scripts/ builds and checks without lab/"],
  ["scripts/gate/a.ts", 'import "../../lab/servers/x.ts";', "scripts/ builds and checks without lab/"],
  ["lab/servers/b.ts", 'import "../soak/x.ts";', "these import nothing else of lab/"],
  ["test/http/a.ts", 'import "../../lab/soak/x.ts";', "tests import only lab/servers/ and lab/seeds/ of lab/"],
];

const allowed: readonly (readonly [file: string, code: string])[] = [
  ["src/stores/ok.ts", 'import { x } from "../core/x.ts"; export const y: number = x;'],
  ["src/stores/memory/ok.ts", 'import "../ok.ts";'],
  ["src/http/ok.ts", 'import "../pagination/x.ts";'],
  ["src/kernel/context/ok.ts", 'import "../identity/x.ts"; import "../../stores/x.ts";'],
  ["src/http/serving/ok.ts", 'import "../engine/x.ts"; import "../routing/x.ts";'],
  ["src/http/engine/engine.ts", 'import "fastify";'],
  ["src/http/parts.ts", 'import "@fastify/busboy";'],
  ["src/auth/ok.ts", 'import type { X } from "../http/x.ts"; export type Y = X;'],
  ["src/auth/index.ts", 'import "../pagination/x.ts";'],
  ["src/types/sql/index.ts", 'import "../../sql/x.ts"; import "../index.ts";'],
  ["src/graphql/declare/types/ok.ts", 'import "../fields/x.ts"; import "../../operation/x.ts";'],
  ["src/graphql/ok.ts", 'import "../dependencies/x.ts"; import "graphql";'],
  [
    "src/sql/ok.ts",
    'import "../auth/x.ts"; import "../kernel/context/current-context.ts"; import "kysely"; import "node:sqlite";',
  ],
  ["src/redis/ok.ts", 'import "../stores/x.ts"; import "redis";'],
  ["src/testing/ok.ts", 'import "../portico-app.ts"; import "../graphql/x.ts";'],
  ["src/index.ts", 'import "./portico-app.ts"; import "./openapi/x.ts";'],
  ["examples/shop/ok.ts", 'import "portico"; import "./main.ts";'],
  ["test/ok.ts", 'import "../src/core/x.ts"; import "fastify";'],
  ["test/http/ok.ts", 'import "../x.ts"; import "../../lab/servers/x.ts"; import "../../scripts/x.ts";'],
  ["test/scripts/ok.ts", 'import "../../lab/soak/x.ts";'],
  ["examples/shop/test/ok.ts", 'import "../../../test/x.ts";'],
  ["examples/shop/test-prisma/ok.ts", 'import "../../../test/x.ts";'],
  ["lab/soak/ok.ts", 'import "../servers/x.ts"; import "../fuzz/x.ts"; import "../../scripts/x.ts";'],
  ["lab/servers/ok.ts", 'import "../seeds/x.ts"; import "../../src/index.ts";'],
];

const misnamed: readonly (readonly [file: string, code: string, reason: string])[] = [
  ["src/core/utils.ts", "export const utils = 1;", "name the file after what it exports"],
  ["src/core/size.ts", "export const length = 1;", "name the file after its main export (length)"],
  ["src/core/env.ts", 'export { env } from "./environment.ts";', "name the file after its main export (it has none)"],
  ["src/core/within.ts", "export const within = 1;", "names no object"],
  ["src/graphql/limits/price.ts", "export const price = 1;", "names no object"],
];

const named: readonly (readonly [file: string, code: string])[] = [
  ["src/core/key-ring.ts", "export interface KeyRingOptions {}\nexport class KeyRing {}"],
  ["src/core/shorten.ts", "function shorten(): void {}\nexport { shorten };"],
  ["src/core/max-errors.ts", "export const MAX_ERRORS = 1;"],
  ["src/core/index.ts", "export const x = 1;"],
];

const misnamedLimits: readonly (readonly [file: string, code: string, reason: string])[] = [
  ["src/http/text/a-limit.ts", "export const MOST_FILES = 9;", "use MAX instead of MOST"],
  ["lab/soak/a-limit.ts", "export const LEAST_USERS = 1;", "use MIN instead of LEAST"],
  ["test/http/a-limit.ts", "const SERVER_PATIENCE_MS = 1;\nexport default SERVER_PATIENCE_MS;", "use TIMEOUT"],
];

const namedLimits: readonly (readonly [file: string, code: string])[] = [
  ["src/http/text/max-files.ts", "export const MAX_FILES = 9;"],
  ["src/core/at-most-once.ts", "export const AT_MOST_ONCE = true;"],
  ["src/http/text/most-recent.ts", "export const mostRecent = 1;"],
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
  ["lab/servers/c.ts", "export const seed = Math.random();", "Math.random differs in each run"],
  ["test/i.test.ts", "export const done = vi.waitFor(() => true);", "it gives up after 1 s"],
];

const steady: readonly (readonly [file: string, code: string])[] = [
  ["test/a.quiet.test.ts", "export const took = performance.now();"],
  ["test/block-thread.ts", "export const end = performance.now() + 1;"],
  ["scripts/a.ts", "export const took = performance.now();"],
  ["lab/bench/a.ts", "export const took = performance.now();"],
  ["src/core/now.ts", "export const now = (): boolean => Date.now() > 1;"],
  ["test/j.test.ts", "export const expiry = new Date(Date.now() - 60_000);"],
  ["test/k.test.ts", "export const iat = Math.floor(Date.now() / 1000) - 120;"],
  ["test/l.test.ts", "export const done = vi.waitFor(() => true, 60_000);"],
];

const keptTooLong: readonly (readonly [file: string, code: string])[] = [
  ["src/http/slot.ts", "export const slot: Slot = new FeatureSlot(false);"],
  ["src/http/a-memo.ts", "export const aMemo: WeakMap<BaseContext, boolean> = new WeakMap();"],
  ["src/http/b-memo.ts", "export const bMemo = new Map<GraphContext<unknown>, boolean>();"],
  ["src/auth/c-memo.ts", "const known = new WeakMap();\nexport const cMemo = (ctx: object) => known.get(ctx);"],
  ["src/auth/d-memo.ts", "export const dMemo = (known: Set<object>, one: Graph) => known.has(one.connection);"],
];

const keptForTheQuestion: readonly (readonly [file: string, code: string])[] = [
  ["src/http/e-memo.ts", "export const eMemo = (ctx: object) => memoOf(ctx, eMemo, () => new Map<string, boolean>());"],
  ["src/http/f-memo.ts", "export const fMemo: WeakMap<AppServices, boolean> = new WeakMap();"],
  ["src/kernel/leaks/end-left-open.ts", "export const endLeftOpen = new WeakMap<BaseContext, boolean>();"],
];

const queueClass = (field: string, body: string): string =>
  `export class Queue {\n  readonly #${field}: string[] = [];\n  add(one: string): void {\n    ${body}\n  }\n}`;

const storeClass = (code: string): string =>
  `export class A {\n  readonly #store: Store;\n  run(store: Store, key: string): unknown {\n    ${code}\n  }\n}`;
const forgetful: readonly (readonly [file: string, code: string])[] = [
  ["src/auth/sessions/a.ts", storeClass("return this.#store.delete(key);")],
  ["src/auth/api-keys/a.ts", storeClass("return Promise.all([key].map((one) => store.delete(one)));")],
  ["src/auth/tokens/a.ts", storeClass("return this.options.store.delete(key);")],
];
const lasting: readonly (readonly [file: string, code: string])[] = [
  ["src/auth/factors/a.ts", storeClass("return revoke(store, key, () => store.delete(key));")],
  ["src/auth/factors/b.ts", storeClass("return discard(store, key);")],
  ["src/stores/deletes.ts", storeClass("return store.delete(key);")],
];

const unbounded: readonly (readonly [file: string, code: string])[] = [
  ["src/http/serving/queue.ts", queueClass("frames", "this.#frames.push(one);")],
  ["src/stores/queue.ts", queueClass("late", "if (one.length < 9) this.#late.push(one, one);")],
  [
    "src/auth/queue.ts",
    queueClass("mails", "const last = this.#mails.length - 1;\n    this.#mails.push(one, `${last}`);"),
  ],
];

const bounded: readonly (readonly [file: string, code: string])[] = [
  ["src/kernel/context/queue.ts", queueClass("frames", "if (this.#frames.length < 9) this.#frames.push(one);")],
  ["src/http/routing/queue.ts", queueClass("routes", "this.#routes.push(one);")],
  ["src/sql/queue.ts", "export const queue = (all: string[]): number => all.push('one');"],
];

const sizedByClients: readonly (readonly [file: string, code: string, reason: string])[] = [
  [
    "src/http/serving/cookies.ts",
    "export const read = (text: string): unknown => JSON.parse(text);",
    "use readJson() of src/core/read-json.ts",
  ],
  [
    "src/auth/factors/attestation.ts",
    "export const read = (bytes: Buffer): unknown => JSON.parse(bytes.toString());",
    "use readJson() of src/core/read-json.ts",
  ],
  [
    "src/graphql/errors/number.ts",
    "export function number(errors: { at: number }[]): void {\n  for (const [at, error] of errors.entries()) error.at = at;\n}",
    "pause it with a Slice or with Turns",
  ],
  [
    "src/graphql/transport/sum.ts",
    "export function sum(values: number[]): number {\n  let all = 0;\n  while (values.length > 0) all += values.pop() ?? 0;\n  return all;\n}",
    "pause it with a Slice or with Turns",
  ],
];

const sliced: readonly (readonly [file: string, code: string])[] = [
  ["src/core/read-json.ts", "export const readJson = (text: string): unknown => JSON.parse(text);"],
  ["src/cli/read.ts", "export const read = (text: string): unknown => JSON.parse(text);"],
  [
    "src/graphql/errors/visit.ts",
    "export async function visit(all: Iterable<() => void>, slice: { isOver(): boolean; rest(): Promise<void> }): Promise<void> {\n  for (const one of all) {\n    one();\n    if (slice.isOver()) await slice.rest();\n  }\n}",
  ],
  [
    "src/graphql/subscriptions/tell.ts",
    "declare const eventTurns: { take(): Promise<void> | undefined };\nexport async function tell(all: Iterable<() => void>): Promise<void> {\n  for (const one of all) {\n    await eventTurns.take();\n    one();\n  }\n}",
  ],
  [
    "src/pagination/sum.ts",
    "export function sum(values: number[]): number {\n  let all = 0;\n  for (const one of values) all += one;\n  return all;\n}",
  ],
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
    ...misnamedLimits,
    ...namedLimits,
    ...unsteady,
    ...steady,
    ...keptTooLong,
    ...keptForTheQuestion,
    ...unbounded,
    ...sizedByClients,
    ...sliced,
    ...bounded,
    ...forgetful,
    ...lasting,
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

describe("the names of limits", () => {
  it.each(misnamedLimits)("reject, in %s, %s", (file, _, reason) => {
    expect(of("constant-names", file)).toEqual([expect.objectContaining({ message: expect.stringContaining(reason) })]);
  });

  it.each(namedLimits)("allow, in %s, %s", (file) => {
    expect(of("constant-names", file)).toEqual([]);
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

describe("a deletion in a store", () => {
  it.each(forgetful)("must say whether it lasts: %s, %s", (file) => {
    expect(of("lasting-revocations", file)).toEqual([
      expect.objectContaining({ message: expect.stringContaining("call revoke() for what must stay ended") }),
    ]);
  });

  it.each(lasting)("says so: %s, %s", (file) => {
    expect(of("lasting-revocations", file)).toEqual([]);
  });
});

describe("a queue", () => {
  it.each(unbounded)("must have a limit: %s, %s", (file) => {
    expect(of("bounded-queues", file)).toEqual([
      expect.objectContaining({ message: expect.stringContaining("grows without a limit") }),
    ]);
  });

  it.each(bounded)("has a limit: %s, %s", (file) => {
    expect(of("bounded-queues", file)).toEqual([]);
  });
});

describe("work whose size clients choose", () => {
  it.each(sizedByClients)("has a limit or takes turns: %s, %s", (file, _code, reason) => {
    expect(of("client-sized-work", file)).toEqual([
      expect.objectContaining({ message: expect.stringContaining(reason) }),
    ]);
  });

  it.each(sliced)("is allowed: %s, %s", (file) => {
    expect(of("client-sized-work", file)).toEqual([]);
  });

  it("has no exception for a file that is gone", () => {
    expect(exceptions.filter((file) => !existsSync(join(root, file)))).toEqual([]);
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
