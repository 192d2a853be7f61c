import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CannotCreate } from "./cannot-create.ts";
import { type Manifest, manifestText, mergeManifests, readManifest, withVersions } from "./manifest.ts";
import { forPackageManager, type PackageManager } from "./package-manager.ts";
import { checkPackageName, shortName } from "./package-name.ts";
import { nameInProject, type Template, templateFile, templateFiles } from "./template.ts";
import type { Versions } from "./versions.ts";

export interface NewProject {
  /** Absolute. */
  readonly folder: string;
  readonly template: Exclude<Template, "existing">;
  readonly packageManager: PackageManager;
  readonly versions: Versions;
}

/** Files that a new repository, `npm init` and editors bring. They are kept or completed, never replaced. */
const KEPT = [".DS_Store", ".git", ".gitignore", ".idea", ".vscode", "LICENSE", "README.md", "package.json"];

/** Writes the files of a template to a folder that is new, or that has only the files of a new repository. */
export function createProject(project: NewProject): void {
  const { folder, template, packageManager, versions } = project;
  checkFolder(folder);
  const name = projectName(project);
  const texts = new Map(templateFiles(template).map((file) => [nameInProject(file), textOf(project, file, name)]));
  texts.set("package.json", manifestText(manifestOf(folder, template, name, versions)));
  texts.set(".gitignore", linesOfBoth(folder, ".gitignore", texts.get(".gitignore") ?? ""));
  texts.set(
    ".env",
    (texts.get(".env.example") ?? "").replace(/^#.*SECRET.*\n/m, "").replace("SECRET=", `SECRET=${secret()}`),
  );
  // Without these, Yarn searches the folders above for a project, and installs in a form that other tools don't know.
  if (packageManager === "yarn") texts.set("yarn.lock", "").set(".yarnrc.yml", "nodeLinker: node-modules\n");
  for (const [file, text] of texts) {
    const path = join(folder, file);
    if (file === "README.md" && existsSync(path)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { flag: KEPT.includes(file) ? "w" : "wx" });
  }
}

/** The name of the package: the one in its `package.json`, or that of the folder. Throws if it is not valid. */
export function projectName({ folder, template }: Pick<NewProject, "folder" | "template">): string {
  const file = join(folder, "package.json");
  const name = (existsSync(file) ? readManifest(file).name : undefined) ?? basename(folder);
  const { dependencies, devDependencies } = readManifest(templateFile(template, "package.json"));
  checkPackageName(name, Object.keys({ ...dependencies, ...devDependencies }));
  return name;
}

export function checkFolder(folder: string): void {
  if (!existsSync(folder)) return;
  if (!statSync(folder).isDirectory()) throw new CannotCreate(`${folder} is a file. Choose another folder`);
  const others = readdirSync(folder).filter((name) => !KEPT.includes(name));
  if (others.length > 0)
    throw new CannotCreate(
      `The folder ${folder} is not empty: it contains ${others[0]}. Choose another folder, or --template existing to add Portico to an application`,
    );
}

function textOf({ template, packageManager }: NewProject, file: string, name: string): string {
  const short = shortName(name);
  const text = readFileSync(templateFile(template, file), "utf8")
    .replaceAll("my-api", short)
    .replaceAll("my_api", short.replaceAll(/[^a-z\d]/g, "_"));
  return forPackageManager(text, packageManager);
}

function manifestOf(folder: string, template: Template, name: string, versions: Versions): Manifest {
  const own = { ...withVersions(readManifest(templateFile(template, "package.json")), versions), name };
  const file = join(folder, "package.json");
  return existsSync(file) ? mergeManifests(readManifest(file), own) : own;
}

function linesOfBoth(folder: string, file: string, text: string): string {
  const path = join(folder, file);
  const present = existsSync(path) ? readFileSync(path, "utf8") : "";
  const missing = text.split("\n").filter((line) => !present.split("\n").includes(line));
  return [present.trimEnd(), ...missing]
    .filter((line) => line !== "")
    .join("\n")
    .concat("\n");
}

function secret(): string {
  return randomBytes(32).toString("base64url");
}
