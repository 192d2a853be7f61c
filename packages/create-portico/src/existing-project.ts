import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { CannotCreate } from "./cannot-create.ts";
import { type Manifest, manifestText, readManifest, withDependencies } from "./manifest.ts";
import { forPackageManager, type PackageManager } from "./package-manager.ts";
import { shortName } from "./package-name.ts";
import { templateFile } from "./template.ts";
import type { Versions } from "./versions.ts";

/** The server that Portico is added to. */
export type Server = "fastify" | "express";

export interface ExistingProject {
  /** Absolute. */
  readonly folder: string;
  readonly packageManager: PackageManager;
  readonly versions: Versions;
}

/** The files that were added, and how the server uses them. */
export interface Addition {
  readonly server: Server;
  /** The new file, from the folder of the project. */
  readonly file: string;
  /** The lines for the file of the server. */
  readonly lines: readonly string[];
}

/** The server in the dependencies of the folder's `package.json`; `null` if there is none. */
export function serverIn(folder: string): Server | null {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return null;
  const { dependencies, devDependencies } = readManifest(file);
  const known = { ...dependencies, ...devDependencies };
  return (["fastify", "express"] as const).find((name) => name in known) ?? null;
}

/** Adds one file with a Portico application, and its dependencies. Changes no other file. */
export function addToProject({ folder, packageManager, versions }: ExistingProject): Addition {
  const server = serverIn(folder);
  const manifestFile = join(folder, "package.json");
  if (!existsSync(manifestFile))
    throw new CannotCreate(`${folder} has no package.json. Run this command in the folder of your application`);
  if (server === null) throw new CannotCreate(`${manifestFile} lists neither fastify nor express as a dependency`);
  const manifest = readManifest(manifestFile);
  const module = moduleOf(folder, manifest);
  const path = join(folder, module.file);
  if (existsSync(path)) throw new CannotCreate(`${path} already exists, and was not changed`);

  const name = shortName(manifest.name ?? basename(folder));
  const fill = (file: string): string =>
    forPackageManager(readFileSync(templateFile("existing", file), "utf8"), packageManager)
      .replaceAll("my-api", name)
      .replaceAll("portico.ts", module.file);
  writeFileSync(path, module.isTyped ? fill("portico.ts") : withoutTypes(fill("portico.ts")), { flag: "wx" });
  const added = Object.fromEntries(DEPENDENCIES.map((dependency) => [dependency, versions[dependency] ?? "latest"]));
  const before = readFileSync(manifestFile, "utf8");
  writeFileSync(manifestFile, manifestText({ ...manifest, ...withDependencies(manifest, added) }, before));
  if (!existsSync(join(folder, "AGENTS.md"))) writeFileSync(join(folder, "AGENTS.md"), fill("AGENTS.md"));
  return { server, file: module.file, lines: [module.importLine, "", MOUNTS[server]] };
}

const DEPENDENCIES = ["graphql", "kysely", "portico"];

const MOUNTS: Readonly<Record<Server, string>> = {
  fastify: 'app.register(portico.plugin(), { prefix: "/portico" });',
  express: 'app.use("/portico", portico.handler); // before body parsers such as express.json()',
};

interface NewModule {
  readonly file: string;
  readonly isTyped: boolean;
  readonly importLine: string;
}

/** The language and the module system of the project decide the name of the file, and how it is imported. */
function moduleOf(folder: string, { type, dependencies, devDependencies }: Manifest): NewModule {
  const place = existsSync(join(folder, "src")) ? "src/" : "";
  const isTyped = "typescript" in { ...dependencies, ...devDependencies } || existsSync(join(folder, "tsconfig.json"));
  if (isTyped) {
    const config = join(folder, "tsconfig.json");
    const keepsEnding =
      existsSync(config) && /ImportingTsExtensions|rewriteRelativeImport/.test(readFileSync(config, "utf8"));
    return { file: `${place}portico.ts`, isTyped, importLine: importing(keepsEnding ? "ts" : "js") };
  }
  if (type === "module") return { file: `${place}portico.js`, isTyped, importLine: importing("js") };
  return { file: `${place}portico.mjs`, isTyped, importLine: 'const { portico } = require("./portico.mjs");' };
}

function importing(ending: string): string {
  return `import { portico } from "./portico.${ending}";`;
}

/** The template has types in two places only, which a test checks. */
function withoutTypes(code: string): string {
  return code.replaceAll(/ type \w+,/g, "").replaceAll(/: ObjectType<.*?>(?= =)/g, "");
}
