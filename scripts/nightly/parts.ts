import { mutationParts } from "./mutation-parts.ts";
import { oneFilePerFolder } from "./one-file-per-folder.ts";
import type { Command, Form, Part } from "./part.ts";
import { publishReliability } from "./publish-reliability.ts";
import { seededFiles } from "./seeded-files.ts";

/** Benchmarks without a file in `bench/results`. */
const otherBenchmarks = [
  "auth",
  "drain",
  "fan-out",
  "imports",
  "nested",
  "pagination",
  "processes",
  "resolver",
  "round-trips",
  "rules",
  "schema",
  "scope",
  "sockets",
  "wide",
];

/** Everything that searches instead of checking, in the order in which it runs. */
export const parts: readonly Part[] = [
  {
    name: "seeds",
    does: "Every property test with a new seed. A seed that fails is kept as a test",
    minutes: { long: 8, short: 0.8 },
    commands: (form, seed) => [tests({ PORTICO_SEED: String(seed) }, "--keep-seeds", "--", ...seeded(form))],
  },
  {
    name: "fuzz",
    does: "A million hostile inputs to the bookshop",
    minutes: { long: 50, short: 0.7 },
    commands: (form, seed) => [
      node("scripts/fuzz.ts", "--seed", String(seed), ...(form === "short" ? ["--short"] : ["--inputs", "1000000"])),
    ],
    written: { file: ".cache/fuzz.json", publish: publishReliability("fuzz") },
  },
  {
    name: "faults",
    does: "Half an hour of faults in Redis, PostgreSQL, the network, the clock and the process, under load",
    minutes: { long: 35, short: 1.2 },
    commands: (form) => [
      node("scripts/soak.ts", "--faults", "all", ...(form === "short" ? ["--short"] : ["--minutes", "30"])),
    ],
    written: { file: ".cache/soak-faults.json", publish: publishReliability("faults") },
  },
  {
    name: "soak",
    does: "Half an hour of mixed traffic, after which nothing may be left in memory",
    minutes: { long: 33, short: 0.6 },
    commands: (form) => [
      node("scripts/soak.ts", ...(form === "short" ? ["--short"] : ["--postgres", "--redis", "--minutes", "30"])),
    ],
  },
  {
    name: "overload",
    does: "Three times as many requests as a server can handle",
    minutes: { long: 6, short: 1.1 },
    commands: (form) => [node("bench/run.ts", "overload", ...flag(form))],
    written: { file: ".cache/overload.json", publish: publishReliability("overload") },
  },
  {
    name: "burst",
    does: "A burst of events to 500 subscribers",
    minutes: { long: 1, short: 0.3 },
    commands: (form) => [node("bench/run.ts", "burst", ...flag(form))],
  },
  {
    name: "failover",
    does: "Primaries of Redis and PostgreSQL killed and split from four processes under load",
    minutes: { long: 6, short: 1.2 },
    commands: (form) => [node("scripts/failover.ts", ...flag(form))],
  },
  {
    name: "rolling",
    does: "Twenty rolling restarts under load",
    minutes: { long: 8, short: 0.6 },
    commands: (form) => [node("scripts/rolling.ts", ...flag(form))],
  },
  {
    name: "access",
    does: "10,000 random operations across the tenants of an issue tracker, every gate over every transport, and 20,000 answers of the audit compared with the server",
    minutes: { long: 10, short: 0.4 },
    commands: (form, seed) => [
      tests(
        { PORTICO_SEED: String(seed), ...(form === "short" ? { PORTICO_OPERATIONS: "100" } : { PORTICO_LONG: "1" }) },
        "--",
        "test/access/tracker",
        ...(form === "short" ? [] : ["test/access/gate-matrix", "test/audit/access-agrees"]),
      ),
    ],
  },
  {
    name: "lists",
    does: "1,000 random list declarations on three databases, through Kysely and Drizzle",
    minutes: { long: 15, short: 0.5 },
    commands: (form, seed) =>
      ["kysely", "drizzle"].map((through) =>
        node(
          "scripts/lists.ts",
          "--seed",
          String(seed),
          "--through",
          through,
          "--count",
          form === "short" ? "20" : "1000",
        ),
      ),
  },
  {
    name: "shapes",
    does: "100,000 random queries with a rule on three databases, through Kysely and Drizzle",
    minutes: { long: 75, short: 0.1 },
    commands: (form, seed) =>
      ["kysely", "drizzle"].map((through) =>
        node(
          "scripts/shapes.ts",
          "--seed",
          String(seed),
          "--through",
          through,
          "--count",
          form === "short" ? "100" : through === "kysely" ? "25000" : "20000",
        ),
      ),
  },
  {
    name: "executor",
    does: "Two million results of random operations, compared with those of graphql-js",
    minutes: { long: 50, short: 0.2 },
    commands: (form, seed) => [
      tests(
        { PORTICO_FUZZ: form === "short" ? "500" : "1000000", PORTICO_SEED: String(seed) },
        "--keep-seeds",
        "--",
        "test/graphql/execute/differential",
        "test/graphql/execute/portico-differential",
      ),
    ],
  },
  {
    name: "patterns",
    does: "Every regular expression, checked anew for super-linear time",
    minutes: { long: 3, short: 0.1 },
    commands: (form) => [node("scripts/patterns.ts", ...(form === "short" ? ["--known"] : []))],
  },
  {
    name: "record",
    does: "All tests, recording the files that each depends on, for npm run test:affected",
    minutes: { long: 45, short: 0.1 },
    commands: (form) => [
      tests({ PORTICO_RECORD: "1" }, "--", ...(form === "short" ? ["test/http/limits/rate-limit"] : all(form))),
    ],
  },
  ...mutationParts,
  ...[22, 26].map(
    (major): Part => ({
      name: `node${major}`,
      does: `All tests on Node ${major}`,
      minutes: { long: 25, short: 0.6 },
      node: major,
      commands: (form) => [tests({}, "--node", String(major), "--", ...all(form))],
    }),
  ),
  {
    name: "graphql-js",
    does: "All tests with graphql-js as the executor",
    minutes: { long: 25, short: 0.5 },
    commands: (form) => [
      // These compare plans with graphql-js.
      tests({ PORTICO_EXECUTOR: "graphql-js" }, "--", "--exclude", "test/graphql/execute/**", ...all(form)),
    ],
  },
  {
    name: "graphql17",
    does: "All tests with graphql 17",
    minutes: { long: 25, short: 0.5 },
    commands: (form) => [tests({ PORTICO_GRAPHQL: "17" }, "--", ...all(form))],
  },
  {
    name: "log-scan",
    does: "All tests with every log at trace, in which no credential may appear",
    minutes: { long: 30, short: 0.6 },
    commands: (form) => [{ ...node("scripts/scan-logs.ts", ...all(form)), environment: { CI: "true" } }],
  },
  {
    name: "quiet",
    does: "The tests that measure time, CPU or memory, alone on the machine",
    minutes: { long: 15, short: 0.8 },
    commands: (form) => [
      tests({}, "--", "--project", "quiet", ...(form === "short" ? ["test/cli", "test/linear-time"] : [])),
    ],
  },
  {
    name: "gauntlet",
    does: "The hostile requests of graphql-gauntlet to Portico and four other servers",
    minutes: { long: 2, short: 0.2 },
    needs: ["bench/peers"],
    commands: (form) => [node("scripts/gauntlet-peers.ts", ...flag(form))],
  },
  {
    name: "newcomer",
    does: "The way of a newcomer through every template and package manager",
    minutes: { long: 15, short: 1.3 },
    commands: (form) => [node("scripts/newcomer.ts", ...flag(form))],
  },
  {
    name: "bench",
    does: "The benchmarks of hooks, accounts, REST and GraphQL, compared with other servers",
    minutes: { long: 45, short: 1.4 },
    needs: ["bench/peers"],
    commands: (form) => [
      node("bench/run.ts", ...(form === "short" ? [] : ["hooks", "accounts"]), "http", "graphql", ...flag(form)),
    ],
  },
  {
    name: "bench-versions",
    does: "The benchmark of GraphQL on Node 22, 24 and 26",
    minutes: { long: 40, short: 0.4 },
    needs: ["bench/peers"],
    commands: (form) =>
      form === "short"
        ? [{ ...node("bench/run.ts", "http", "--short"), node: 22 }]
        : [22, 24, 26].map((major) => ({
            ...node("bench/run.ts", "graphql", "--once"),
            node: major,
            environment: { PORTICO_GRAPHQL: major === 26 ? "17" : "16" },
          })),
  },
  {
    name: "bench-deep",
    does: "Pages of a table with ten million rows",
    minutes: { long: 30, short: 0.3 },
    commands: (form) => [node("bench/run.ts", "deep", ...flag(form))],
  },
  {
    name: "bench-scaling",
    does: "The cost of requests, sessions and sockets, and a mix of them on up to three processes",
    minutes: { long: 15, short: 0.8 },
    commands: (form) => [node("bench/simulate.ts", ...flag(form))],
  },
  {
    name: "bench-others",
    does: "Every other benchmark",
    minutes: { long: 60, short: 0.1 },
    needs: ["bench/peers"],
    commands: (form) => [node("bench/run.ts", ...(form === "short" ? ["imports"] : otherBenchmarks), ...flag(form))],
  },
  ...["busy", "pauses"].map(
    (kind): Part => ({
      name: `hostile-${kind}`,
      does: `The gate ${kind === "busy" ? "beside busy processes" : "while its processes are stopped at random"}`,
      minutes: { long: 60, short: 0.5 },
      commands: (form) => [
        node(
          "scripts/hostile-host.ts",
          kind,
          "--",
          ...(form === "short" ? tests({}, "--", "test/http/exceptions").run : [".ci/run"]),
        ),
      ],
    }),
  ),
];

function node(...args: readonly string[]): Command {
  return { run: ["node", ...args] };
}

function tests(environment: Readonly<Record<string, string>>, ...args: readonly string[]): Command {
  return { ...node("scripts/nightly/run-tests.ts", ...args), environment };
}

function flag(form: Form): readonly string[] {
  return form === "short" ? ["--short"] : [];
}

/** The arguments of a run of all tests, except those that need a quiet machine. */
function all(form: Form): readonly string[] {
  return ["--project=!quiet", ...(form === "short" ? oneFilePerFolder() : [])];
}

/** The short form takes the first one of each folder, and not the tracker, which is a part by itself. */
function seeded(form: Form): readonly string[] {
  const files = seededFiles();
  if (form === "long") return files;
  const quick = files.filter((file) => !file.startsWith("test/access/tracker/"));
  return [...Map.groupBy(quick, (file) => file.split("/")[1]).values()].flatMap(([first]) => first ?? []);
}
