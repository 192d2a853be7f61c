import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const templates = ["minimal", "api", "existing"] as const;
export type Template = (typeof templates)[number];

export function isTemplate(name: string): name is Template {
  return (templates as readonly string[]).includes(name);
}

const FOLDER = fileURLToPath(new URL("../templates/", import.meta.url));

/** Where a file of a template is read. */
export function templateFile(template: Template, name: string): string {
  return join(FOLDER, template, name);
}

/** The files of a template, as paths in it. */
export function templateFiles(template: Template): readonly string[] {
  const folder = join(FOLDER, template);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** npm leaves `.gitignore` out of a package, so the file has another name in a template. */
export function nameInProject(name: string): string {
  return name === "_gitignore" ? ".gitignore" : name;
}
