import { posix } from "node:path";
import { refusalOutsideSrc } from "./refusal-outside-src.ts";

export type Layers = Readonly<Record<string, readonly string[] | "anything">>;

/**
 * The layers of `src/`: each folder, and the folders that it may import besides itself. Lower layers come first.
 * `"anything"` marks the folders that put the parts together.
 */
export const layers: Layers = {
  core: [],
  stores: ["core"],
  dependencies: ["core"],
  pagination: ["core"],
  kernel: ["core", "stores", "dependencies", "pagination"],
  http: ["core", "stores", "dependencies", "pagination", "kernel"],
  openapi: ["core", "kernel", "http"],
  observe: ["core", "kernel", "http"],
  auth: ["core", "stores", "kernel", "http"],
  graphql: ["core", "stores", "dependencies", "kernel", "http", "observe", "pagination"],
  sql: ["core", "dependencies", "stores", "kernel", "pagination", "auth"],
  drizzle: ["core", "dependencies", "kernel", "pagination", "sql"],
  redis: ["core", "stores", "pagination", "auth"],
  nats: ["core", "stores"],
  testing: "anything",
  audit: "anything",
  cli: "anything",
};

/** The layers inside a folder of `src/`. Its own files are an entry point or belong into one of its folders. */
export const layersInside: Readonly<Record<string, Layers>> = {
  "pagination/": {
    conditions: [],
    keys: [],
    query: [],
    handlers: ["conditions", "keys"],
    cursor: ["keys", "query"],
    filter: ["conditions", "handlers", "query"],
    strategies: ["cursor", "filter", "handlers", "keys", "query"],
    pages: ["cursor", "filter", "handlers", "keys", "query", "strategies"],
  },
  "kernel/": {
    exchange: [],
    exceptions: [],
    events: [],
    hooks: [],
    leaks: [],
    pages: [],
    identity: ["exceptions"],
    load: ["exceptions", "exchange"],
    // A gate reads the context, and the context asks gates. All imports of the first kind are types.
    access: ["context", "exceptions", "hooks", "identity"],
    context: ["access", "events", "exchange", "hooks", "identity", "leaks", "load", "pages"],
    limits: ["context", "exceptions", "exchange"],
    idempotency: ["context", "exceptions", "identity"],
  },
  "http/": {
    html: [],
    text: [],
    messages: ["html", "text"],
    routing: ["messages"],
    engine: ["messages", "routing", "text"],
    serving: ["engine", "messages", "routing", "text"],
  },
  "auth/": {
    callers: [],
    records: [],
    users: [],
    "api-keys": ["callers", "records"],
    passwords: ["users"],
    sessions: ["callers", "records", "users"],
    limits: ["passwords", "records", "users"],
    tokens: ["callers", "records", "sessions", "users"],
    backends: ["api-keys", "callers", "sessions", "tokens", "users"],
    factors: ["limits", "records"],
    providers: ["records", "sessions", "tokens", "users"],
    accounts: [
      "api-keys",
      "callers",
      "factors",
      "limits",
      "passwords",
      "providers",
      "records",
      "sessions",
      "tokens",
      "users",
    ],
    pages: ["accounts"],
    preset: ["accounts", "api-keys", "backends", "callers", "pages", "sessions", "users"],
  },
  "sql/": {
    statements: [],
    conditions: ["statements"],
    guard: ["conditions", "statements"],
    database: ["guard", "statements"],
    prisma: ["database", "statements"],
    queries: ["database", "guard", "statements"],
    migrations: ["database", "guard", "queries"],
    nested: ["queries", "statements"],
    outbox: ["database", "guard", "migrations"],
    stores: ["database", "guard", "migrations", "outbox"],
    transactions: ["database", "guard", "migrations", "stores"],
    users: ["database", "guard", "migrations", "queries"],
    lists: ["conditions", "database", "guard", "nested", "queries", "statements"],
    "account-log": ["database", "guard", "lists", "migrations"],
    plans: ["database", "guard", "lists", "queries", "statements"],
  },
  "graphql/": {
    errors: [],
    ide: [],
    operation: [],
    request: [],
    selection: [],
    declare: ["errors", "operation"],
    documents: ["request"],
    execute: ["declare", "errors", "operation", "selection"],
    hooks: ["declare", "errors", "operation"],
    limits: ["declare", "selection"],
    schema: ["declare", "errors", "operation"],
    uploads: ["declare", "request"],
    admit: ["documents", "errors", "execute", "hooks", "limits", "operation", "request", "selection"],
    connection: ["declare", "operation", "schema", "selection"],
    adopt: ["connection", "declare", "operation", "schema"],
    run: ["admit", "execute", "operation", "selection"],
    respond: ["admit", "errors", "execute", "hooks", "run"],
    streams: ["admit", "errors", "hooks", "operation", "respond", "run", "schema", "selection"],
    pipeline: [
      "admit",
      "declare",
      "documents",
      "errors",
      "hooks",
      "operation",
      "request",
      "respond",
      "run",
      "selection",
      "streams",
    ],
    subscriptions: ["pipeline", "request", "respond", "streams"],
    transport: ["errors", "ide", "pipeline", "request", "respond", "streams", "subscriptions", "uploads"],
    graph: "anything",
  },
  "audit/": {
    "stand-ins": [],
    surface: [],
    table: ["stand-ins", "surface"],
    guard: ["surface", "table"],
    targets: ["surface"],
    attack: ["stand-ins", "surface", "targets"],
    lists: ["targets"],
  },
  "cli/": {
    output: [],
    process: ["output"],
    project: ["output", "process"],
    commands: ["output", "process", "project"],
    program: ["commands", "process", "project"],
  },
};

/**
 * Packages that only some folders of `src/` import: all other files go through the first of them. `*` stands for any ending.
 */
const homes: readonly { readonly home: string; readonly guest?: string; readonly packages: readonly string[] }[] = [
  { home: "http/engine/", packages: ["fastify", "fastify-plugin", "light-my-request", "@fastify/*"] },
  { home: "http/", packages: ["find-my-way"] },
  { home: "graphql/", guest: "audit/", packages: ["graphql", "graphql-ws"] },
  { home: "sql/", guest: "drizzle/", packages: ["kysely"] },
  { home: "sql/", packages: ["pg", "pg-cursor", "node:sqlite"] },
  { home: "drizzle/", packages: ["drizzle-orm"] },
  { home: "redis/", packages: ["redis", "@redis/*"] },
  { home: "nats/", packages: ["@nats-io/*"] },
];

// A parser that shares Fastify's scope on npm and needs no Fastify.
const homeless: readonly string[] = ["@fastify/busboy"];

/**
 * Why `file` may not import `specifier`, or undefined when it may.
 * `file` is relative to the repository, with forward slashes.
 */
export function refusal(file: string, specifier: string): string | undefined {
  if (!file.startsWith("src/")) return refusalOutsideSrc(file, specifier);
  const place = file.slice("src/".length);
  return specifier.startsWith(".") ? refusalOfFile(place, specifier) : refusalOfPackage(place, specifier);
}

function refusalOfFile(place: string, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(place), specifier);
  if (target.startsWith("..")) return "src/ imports nothing that is outside src/";
  if (isComposition(place)) return undefined;
  return refusalOfLayer("src/", layers, place, target) ?? refusalInside(place, target);
}

function refusalInside(place: string, target: string): string | undefined {
  const home = Object.keys(layersInside).find((folder) => place.startsWith(folder) && target.startsWith(folder));
  if (home === undefined) return undefined;
  return refusalOfLayer(`src/${home}`, layersInside[home] ?? {}, place.slice(home.length), target.slice(home.length));
}

function refusalOfLayer(root: string, table: Layers, place: string, target: string): string | undefined {
  const from = folderOf(place);
  const to = folderOf(target);
  if (from === to) return undefined;
  if (from === undefined) return `${root} has layers: move the file into one of its folders`;
  const allowed = table[from];
  if (allowed === undefined) return `${root}${from}/ has no layer yet: give it one in scripts/lint/layers.ts`;
  if (allowed === "anything" || (to !== undefined && allowed.includes(to))) return undefined;
  return `${root}${from}/ may import ${allowed.join(", ") || "nothing of ours"}, not ${root}${to ?? target}`;
}

function refusalOfPackage(place: string, specifier: string): string | undefined {
  const name = packageName(specifier);
  if (name === "portico") return "src/ imports its own files by path, not through an entry point";
  if (homeless.includes(name)) return undefined;
  const found = homes.find(({ packages }) => packages.some((pattern) => matches(pattern, name)));
  if (found === undefined || place.startsWith(found.home)) return undefined;
  return found.guest !== undefined && place.startsWith(found.guest)
    ? undefined
    : `only src/${found.home} imports ${name}`;
}

// `portico-app.ts`, the entry points and the command put the parts together.
function isComposition(place: string): boolean {
  return !place.includes("/") || /^(types\/)?[^/]+\/index\.ts$|^cli\/portico\.ts$/.test(place);
}

function folderOf(place: string): string | undefined {
  return place.includes("/") ? place.slice(0, place.indexOf("/")) : undefined;
}

function packageName(specifier: string): string {
  if (specifier.startsWith("node:")) return specifier;
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

function matches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
