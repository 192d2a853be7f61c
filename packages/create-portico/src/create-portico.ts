import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { cancel, intro, outro, spinner } from "@clack/prompts";
import { ask, type Choice, defaults } from "./ask.ts";
import { CannotCreate, UsageError } from "./cannot-create.ts";
import { addToProject } from "./existing-project.ts";
import { install } from "./install.ts";
import { createProject } from "./new-project.ts";
import { nextSteps } from "./next-steps.ts";
import { currentPackageManager } from "./package-manager.ts";
import { type Arguments, readArguments, USAGE } from "./read-arguments.ts";
import { porticoVersion, readVersions } from "./versions.ts";

const CANCELLED = 130;
const isTerminal = process.stdin.isTTY && process.stdout.isTTY;

/** Runs the command. Returns its exit code: 0, 1 if it failed, 2 for a wrong flag, 130 if the user cancelled. */
export async function createPortico(args: readonly string[]): Promise<number> {
  try {
    const given = readArguments(args);
    if (given === "help") print(USAGE.trimEnd());
    else if (given === "version") print(version());
    else return await run(given);
    return 0;
  } catch (error) {
    // Errors of the file system name the file and the reason.
    if (!(error instanceof CannotCreate || (error instanceof Error && "syscall" in error))) throw error;
    process.stderr.write(`create-portico: ${error.message}\n`);
    if (error instanceof UsageError) process.stderr.write('Run "npm create portico@latest -- --help" for the flags.\n');
    return error instanceof CannotCreate ? error.exitCode : 1;
  }
}

async function run(given: Arguments): Promise<number> {
  const cwd = process.cwd();
  if (isTerminal) intro("Portico");
  const choice = isTerminal && !given.yes ? await ask(given, cwd) : defaults(given);
  if (choice === null) {
    cancel("Cancelled. Nothing was created.");
    return CANCELLED;
  }
  await create(given, choice, cwd);
  return 0;
}

async function create(given: Arguments, choice: Choice, cwd: string): Promise<void> {
  const { template } = choice;
  const folder = resolve(cwd, choice.folder);
  const packageManager = given.packageManager ?? currentPackageManager(folder, process.env["npm_config_user_agent"]);
  const own = readVersions();
  const versions = given.portico === undefined ? own : { ...own, portico: porticoVersion(given.portico, cwd, folder) };
  const project = { folder, packageManager, versions };
  const addition = template === "existing" ? addToProject(project) : null;
  if (template !== "existing") createProject({ ...project, template });
  const what = addition === null ? `Created ${folder} from the template ${template}` : `Added ${addition.file}`;
  if (given.install) await withProgress(`Installing with ${packageManager}`, () => install(folder, packageManager));
  const steps = nextSteps({ cwd, folder, template, packageManager, isInstalled: given.install, addition });
  if (isTerminal) outro(what);
  else print(what);
  print(`${isTerminal ? "" : "\n"}${steps}\n`);
}

async function withProgress(message: string, work: () => Promise<void>): Promise<void> {
  if (!isTerminal) {
    print(message);
    return work();
  }
  const progress = spinner();
  progress.start(message);
  try {
    await work();
    progress.stop("Installed the dependencies");
  } catch (error) {
    progress.error("The installation failed");
    throw error;
  }
}

function version(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
