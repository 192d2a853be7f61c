import { basename, resolve } from "node:path";
import { isCancel, select, text } from "@clack/prompts";
import { serverIn } from "./existing-project.ts";
import { checkFolder, projectName } from "./new-project.ts";
import type { Arguments } from "./read-arguments.ts";
import type { Template } from "./template.ts";

/** Where to create what. */
export interface Choice {
  readonly folder: string;
  readonly template: Template;
}

const DEFAULT_FOLDER = "my-api";

/** Without a terminal, and with `--yes`. */
export function defaults({ folder, template = "minimal" }: Arguments): Choice {
  return { folder: folder ?? (template === "existing" ? "." : DEFAULT_FOLDER), template };
}

/** Asks for what the command line leaves open. Returns `null` if the user cancels. */
export async function ask(args: Arguments, cwd: string): Promise<Choice | null> {
  const template = args.template ?? (await askTemplate(resolve(cwd, args.folder ?? ".")));
  if (template === null) return null;
  if (args.folder !== undefined || template === "existing") return defaults({ ...args, template });
  const folder = await askFolder(cwd, template);
  return folder === null ? null : { folder, template };
}

async function askTemplate(folder: string): Promise<Template | null> {
  const server = serverIn(folder);
  const chosen = await select<Template>({
    message: "Which template?",
    initialValue: server === null ? "minimal" : "existing",
    options: [
      { value: "minimal", label: "Minimal", hint: "one file, with SQLite" },
      { value: "api", label: "API", hint: "PostgreSQL, Redis, tests, Docker and CI" },
      {
        value: "existing",
        label: "Existing application",
        hint: `adds Portico to ${server ?? "Fastify or Express"} in ${basename(folder)}`,
      },
    ],
  });
  return isCancel(chosen) ? null : chosen;
}

async function askFolder(cwd: string, template: Exclude<Template, "existing">): Promise<string | null> {
  const folder = await text({
    message: "Which folder?",
    placeholder: DEFAULT_FOLDER,
    defaultValue: DEFAULT_FOLDER,
    validate: (given) =>
      problemOf(resolve(cwd, given === undefined || given === "" ? DEFAULT_FOLDER : given), template),
  });
  return isCancel(folder) ? null : folder;
}

function problemOf(folder: string, template: Exclude<Template, "existing">): string | undefined {
  try {
    checkFolder(folder);
    projectName({ folder, template });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
