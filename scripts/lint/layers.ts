import { posix } from "node:path";

type Layers = Readonly<Record<string, readonly string[] | "anything">>;

/**
 * The layers of `src/`: each folder, and the folders that it may import besides itself. Lower layers come first.
 * `"anything"` marks the folders that put the parts together.
 */
const layers: Layers = {
  core: [],
  stores: ["core"],
  dependencies: ["core"],
  pagination: ["core"],
  http: ["core", "stores", "dependencies", "pagination"],
  openapi: ["core", "http"],
  observe: ["core", "http"],
  auth: ["core", "stores", "http"],
  graphql: ["core", "stores", "dependencies", "http", "observe", "pagination"],
  sql: ["core", "dependencies", "stores", "http", "pagination", "auth"],
  drizzle: ["core", "dependencies", "http", "pagination", "sql"],
  redis: ["core", "stores", "pagination", "auth"],
  nats: ["core", "stores"],
  testing: "anything",
  audit: "anything",
  cli: "anything",
};

/** The layers inside `src/http/`. */
const httpLayers: Layers = {
  html: [],
  hooks: [],
  identity: [],
  exceptions: [],
  // A gate reads the context, and the context asks gates.
  access: ["context", "exceptions", "identity"],
  pages: [],
  // A budget reads the context, and the context holds its charge.
  context: ["access", "exceptions", "hooks", "identity", "limits", "pages"],
  routing: ["access", "context", "exceptions", "identity"],
  engine: ["context", "exceptions", "routing"],
  limits: ["context", "exceptions", "routing"],
  serving: ["access", "context", "exceptions", "identity", "routing", "engine", "limits"],
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
  if (file.startsWith("examples/")) return refusalInExamples(file, specifier);
  if (!file.startsWith("src/")) return undefined;
  const place = file.slice("src/".length);
  return specifier.startsWith(".") ? refusalOfFile(place, specifier) : refusalOfPackage(place, specifier);
}

function refusalInExamples(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const target = posix.join(posix.dirname(file), specifier);
  return target.startsWith("src/")
    ? "an example uses the public entry points only, as an application would"
    : undefined;
}

function refusalOfFile(place: string, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(place), specifier);
  if (target.startsWith("..")) return "src/ imports nothing that is outside src/";
  if (isComposition(place)) return undefined;
  return refusalOfLayer("src/", layers, place, target) ?? refusalInHttp(place, target);
}

function refusalInHttp(place: string, target: string): string | undefined {
  const home = "http/";
  if (!place.startsWith(home) || !target.startsWith(home)) return undefined;
  return refusalOfLayer("src/http/", httpLayers, place.slice(home.length), target.slice(home.length));
}

function refusalOfLayer(root: string, table: Layers, place: string, target: string): string | undefined {
  const from = folderOf(place);
  const to = folderOf(target);
  if (from === to) return undefined;
  const allowed = table[from ?? ""];
  if (allowed === undefined) return `${root}${from ?? ""}/ has no layer yet: give it one in scripts/lint/layers.ts`;
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

// `portico-app.ts` and the entry points put the parts together.
function isComposition(place: string): boolean {
  return !place.includes("/") || /^(types\/)?[^/]+\/index\.ts$/.test(place);
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
