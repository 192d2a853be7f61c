import { mutationParts } from "./mutation-parts.ts";
import { oneFilePerFolder } from "./one-file-per-folder.ts";
import type { Command, Form, Part } from "./part.ts";
import { publishReliability } from "./publish-reliability.ts";
import { seededFiles } from "./seeded-files.ts";

/** Benchmarks without a file in `lab/bench/results`. */
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
      node("lab/fuzz.ts", "--seed", String(seed), ...(form === "short" ? ["--short"] : ["--inputs", "1000000"])),
    ],
    written: { file: ".cache/fuzz.json", publish: publishReliability("fuzz") },
  },
  {
    name: "loop",
    does: "50,000 hostile inputs to the bookshop, of which none may hold the main thread for 50 ms",
    minutes: { long: 15, short: 0.7 },
    commands: (form, seed) => [node("lab/loop.ts", "--seed", String(seed), ...flag(form))],
  },
  {
    name: "ownership",
    does: "50,000 sequences of two attackers on an account, of which none may get in",
    minutes: { long: 45, short: 0.3 },
    commands: (form, seed) => {
      const long = form === "short" ? {} : { PORTICO_LONG: "1" };
      return [tests({ PORTICO_SEED: String(seed), ...long }, "--", "test/auth/accounts/ownership/ownership.test.ts")];
    },
  },
  {
    name: "faults",
    does: "Half an hour of faults in Redis, PostgreSQL, the network, the clock and the process, under load",
    minutes: { long: 35, short: 1.2 },
    commands: (form) => [
      node("lab/soak.ts", "--faults", "all", ...(form === "short" ? ["--short"] : ["--minutes", "30"])),
    ],
    written: { file: ".cache/soak-faults.json", publish: publishReliability("faults") },
  },
  {
    name: "soak",
    does: "Half an hour of mixed traffic, after which nothing may be left in memory",
    minutes: { long: 33, short: 0.6 },
    commands: (form) => [
      node("lab/soak.ts", ...(form === "short" ? ["--short"] : ["--postgres", "--redis", "--minutes", "30"])),
    ],
  },
  {
    name: "overload",
    does: "Three times as many requests as a server can handle",
    minutes: { long: 9, short: 2 },
    commands: (form) => [node("lab/bench/run.ts", "overload", ...flag(form))],
    written: { file: ".cache/overload.json", publish: publishReliability("overload") },
  },
  {
    name: "burst",
    does: "A burst of events to 500 subscribers",
    minutes: { long: 1, short: 0.3 },
    commands: (form) => [node("lab/bench/run.ts", "burst", ...flag(form))],
  },
  {
    name: "failover",
    does: "Primaries of Redis and PostgreSQL killed and split from four processes under load",
    minutes: { long: 6, short: 1.2 },
    commands: (form) => [node("lab/failover.ts", ...flag(form))],
  },
  {
    name: "fault-table",
    does: "Everything that the product depends on broken in every way, with the process shut down meanwhile",
    minutes: { long: 30, short: 1.5 },
    commands: (form) => [node("lab/faults.ts", ...flag(form))],
  },
  {
    name: "rolling",
    does: "Twenty rolling restarts under load",
    minutes: { long: 8, short: 0.6 },
    commands: (form) => [node("lab/rolling.ts", ...flag(form))],
  },
  {
    name: "durable",
    does: "Processes killed at each step between a commit and the delivery of its event, and overlapping writers",
    minutes: { long: 35, short: 1.5 },
    commands: (form) => [
      node("lab/durable.ts", ...flag(form)),
      node("lab/durable.ts", "--writers", "64", "--commits", form === "short" ? "500" : "20000"),
    ],
  },
  {
    name: "idempotency",
    does: "1,000 orders with idempotency keys, each sent by 50 clients to four processes that are killed all the time",
    minutes: { long: 20, short: 1.5 },
    commands: (form) => [node("lab/idempotency.ts", ...flag(form))],
  },
  {
    name: "access",
    does: "10,000 random operations across the tenants of an issue tracker, every gate over every transport, and 20,000 answers of the audit compared with the server",
    minutes: { long: 10, short: 0.4 },
    commands: (form, seed) => [
      tests(
        { PORTICO_SEED: String(seed), ...(form === "short" ? { PORTICO_OPERATIONS: "100" } : { PORTICO_LONG: "1" }) },
        "--",
        "test/system/tracker",
        ...(form === "short" ? [] : ["test/kernel/access/gate-matrix", "test/audit/access-agrees"]),
      ),
    ],
  },
  {
    name: "lists",
    does: "1,000 random list declarations on three databases, through Kysely and Drizzle",
    minutes: { long: 15, short: 0.5 },
    commands: (form, seed) =>
      ["kysely", "drizzle"].map((through) =>
        node("lab/lists.ts", "--seed", String(seed), "--through", through, "--count", form === "short" ? "20" : "1000"),
      ),
  },
  {
    name: "shapes",
    does: "100,000 random queries with a rule on three databases, through Kysely, Drizzle and Prisma",
    minutes: { long: 75, short: 0.1 },
    needs: ["tools/prisma"],
    commands: (form, seed) =>
      ["kysely", "drizzle", "prisma"].map((through) =>
        node(
          "lab/shapes.ts",
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
    name: "prisma",
    does: "The tests of lists over tables through Prisma 6 and 7",
    minutes: { long: 4, short: 0.1 },
    needs: ["tools/prisma", "tools/prisma-6"],
    commands: (form) => [node("scripts/prisma.ts", form === "short" ? "sql/connection" : "--all")],
  },
  {
    name: "guard",
    does: "100,000 random operations of two tenants on a tracker whose handlers check nothing, on two guarded databases",
    minutes: { long: 25, short: 0.2 },
    commands: (form, seed) => [
      node("lab/guard.ts", "--seed", String(seed), "--operations", form === "short" ? "1000" : "100000"),
    ],
  },
  {
    name: "guard-shapes",
    does: "20,000 random reads and writes through the guard of two databases, and 13 planted faults in the guard",
    minutes: { long: 20, short: 0.3 },
    commands: (form, seed) => [
      node("lab/guard-shapes.ts", "--seed", String(seed), "--count", form === "short" ? "200" : "20000"),
      ...(form === "short" ? [] : [node("lab/guard-shapes.ts", "--faults")]),
    ],
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
      tests({ PORTICO_RECORD: "1" }, "--", ...(form === "short" ? ["test/kernel/limits/rate-limit"] : all(form))),
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
      tests({}, "--", "--project", "quiet", ...(form === "short" ? ["test/cli", "test/system/linear-time"] : [])),
    ],
  },
  {
    name: "gauntlet",
    does: "The hostile requests of graphql-gauntlet to Portico and four other servers",
    minutes: { long: 2, short: 0.2 },
    needs: ["lab/bench/peers"],
    commands: (form) => [node("lab/gauntlet-peers.ts", ...flag(form))],
  },
  {
    name: "examples",
    does: "The examples with other frameworks, tested beside those with Portico",
    minutes: { long: 5, short: 0.5 },
    needs: ["examples/from-nestjs/before", "examples/same-api", "examples/same-api/nestjs", "examples/same-api/yoga"],
    commands: (form) =>
      form === "short"
        ? [node("--test", "--test-name-pattern=yoga", "examples/same-api/test/slice.test.ts")]
        : [node("--run", "test:nest"), node("--run", "test:same-api")],
  },
  {
    name: "newcomer",
    does: "The way of a newcomer through every template and package manager",
    minutes: { long: 15, short: 1.3 },
    commands: (form) => [node("lab/newcomer.ts", ...flag(form))],
  },
  {
    name: "release",
    does: "A release to a registry on this machine, installed and used from there, and three planted mistakes in the package",
    minutes: { long: 25, short: 4 },
    needs: ["tools/release"],
    commands: (form) =>
      form === "short"
        ? [node("lab/rehearse.ts", "--short")]
        : [node("lab/rehearse.ts"), node("lab/rehearse.ts", "--planted")],
  },
  {
    name: "bench",
    does: "The benchmarks of hooks, accounts, REST and GraphQL, compared with other servers",
    minutes: { long: 45, short: 1.4 },
    needs: ["lab/bench/peers"],
    commands: (form) => [
      node("lab/bench/run.ts", ...(form === "short" ? [] : ["hooks", "accounts"]), "http", "graphql", ...flag(form)),
    ],
  },
  {
    name: "bench-versions",
    does: "The benchmark of GraphQL on Node 22, 24 and 26",
    minutes: { long: 40, short: 0.4 },
    needs: ["lab/bench/peers"],
    commands: (form) =>
      form === "short"
        ? [{ ...node("lab/bench/run.ts", "http", "--short"), node: 22 }]
        : [22, 24, 26].map((major) => ({
            ...node("lab/bench/run.ts", "graphql", "--once"),
            node: major,
            environment: { PORTICO_GRAPHQL: major === 26 ? "17" : "16" },
          })),
  },
  {
    name: "bench-deep",
    does: "Pages of a table with ten million rows",
    minutes: { long: 30, short: 0.3 },
    commands: (form) => [node("lab/bench/run.ts", "deep", ...flag(form))],
  },
  {
    name: "bench-scaling",
    does: "The cost of requests, sessions and sockets, and a mix of them on up to three processes",
    minutes: { long: 15, short: 0.8 },
    commands: (form) => [node("lab/bench/simulate.ts", ...flag(form))],
  },
  {
    name: "bench-others",
    does: "Every other benchmark",
    minutes: { long: 60, short: 0.1 },
    needs: ["lab/bench/peers"],
    commands: (form) => [
      node("lab/bench/run.ts", ...(form === "short" ? ["imports"] : otherBenchmarks), ...flag(form)),
    ],
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
          ...(form === "short" ? tests({}, "--", "test/kernel/exceptions").run : [".ci/run"]),
        ),
      ],
    }),
  ),
];

function node(...args: readonly string[]): Command {
  return { run: ["node", ...args] };
}

function tests(environment: Readonly<Record<string, string>>, ...args: readonly string[]): Command {
  return { ...node("lab/nightly/run-tests.ts", ...args), environment };
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
  const quick = files.filter((file) => !file.startsWith("test/system/tracker/"));
  return [...Map.groupBy(quick, (file) => file.split("/")[1]).values()].flatMap(([first]) => first ?? []);
}
