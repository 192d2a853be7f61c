import { relative } from "node:path";
import type { Addition } from "./existing-project.ts";
import { executing, type PackageManager, running } from "./package-manager.ts";
import type { Template } from "./template.ts";

export interface Created {
  readonly cwd: string;
  readonly folder: string;
  readonly template: Template;
  readonly packageManager: PackageManager;
  readonly isInstalled: boolean;
  /** For the template `existing`. */
  readonly addition: Addition | null;
}

/** The commands to type next, with a comment on each. */
export function nextSteps({ cwd, folder, template, packageManager, isInstalled, addition }: Created): string {
  const steps: (readonly [command: string, comment: string])[] = [];
  const place = relative(cwd, folder);
  if (place !== "") steps.push([`cd ${place.includes(" ") ? `"${place}"` : place}`, ""]);
  if (!isInstalled) steps.push([`${packageManager} install`, ""]);
  if (addition !== null) {
    steps.push([
      `${executing(packageManager)} portico migrate up --database sqlite:portico.db`,
      "creates the tables for accounts",
    ]);
    return `${commands(steps)}\n\nAdd Portico to the file of your ${NAMES[addition.server]} server:\n\n${indented(addition.lines)}\n\nThen open /portico/graphql for GraphiQL and /portico/docs for the API reference.`;
  }
  if (template === "api") steps.push(["docker compose up -d", "starts PostgreSQL and Redis"]);
  steps.push([running(packageManager, "dev"), "starts the API, and restarts it when a file changes"]);
  steps.push([running(packageManager, "test"), "runs the tests"]);
  return commands(steps);
}

const NAMES = { fastify: "Fastify", express: "Express" };

function commands(steps: readonly (readonly [string, string])[]): string {
  const width = Math.max(...steps.map(([command, comment]) => (comment === "" ? 0 : command.length)));
  return indented(
    steps.map(([command, comment]) => (comment === "" ? command : `${command.padEnd(width)}  # ${comment}`)),
  );
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => (line === "" ? "" : `  ${line}`)).join("\n");
}
