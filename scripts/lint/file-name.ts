const vague: readonly string[] = ["common", "helpers", "misc", "shared", "types", "util", "utils"];
/** Words that name no object. */
const bare: readonly string[] = [
  "cost",
  "cut",
  "fold",
  "measure",
  "outside",
  "price",
  "scan",
  "surroundings",
  "within",
];

/** Files whose exports are put together from others or are a list: the command, the scalars, and `t`. */
const collections: readonly string[] = [
  "src/cli/portico.ts",
  "src/graphql/declare/types/scalars.ts",
  "src/graphql/declare/types/t.ts",
];

/**
 * The reason why the name of a file of `src/` is not allowed, or undefined.
 * A file is named in kebab-case after one of its exports: `rate-limit.ts` exports `rateLimit`.
 */
export function fileNameFault(file: string, exported: readonly string[]): string | undefined {
  if (!file.startsWith("src/")) return undefined;
  const stem = file.slice(file.lastIndexOf("/") + 1).replace(/(\.d)?\.[cm]?[jt]sx?$/, "");
  if (vague.includes(stem)) return `name the file after what it exports: "${stem}" fits anything`;
  if (bare.includes(stem)) return `name the file after what it does, and to what: "${stem}" names no object`;
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(stem)) return `"${stem}" is not kebab-case`;
  if (stem === "index" || file.endsWith(".d.ts") || collections.includes(file)) return undefined;
  if (exported.some((name) => kebabCase(name) === stem)) return undefined;
  return `name the file after its main export (${exported.join(", ") || "it has none"}), or the export after the file`;
}

/** `APIKeyText` is `api-key-text`, `MAX_ERRORS` is `max-errors`, `GraphQLDenied` is `graphql-denied`. */
function kebabCase(name: string): string {
  return name
    .replace("GraphQL", "Graphql")
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}
