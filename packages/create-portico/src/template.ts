import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
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
  // Yarn runs the command from a zip file, and the entries of its file system don't know their folder.
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted();
}

/** npm leaves `.gitignore` out of a package, so the file has another name in a template. */
export function nameInProject(name: string): string {
  return name === "_gitignore" ? ".gitignore" : name;
}
