import { readFileSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { cliProgram } from "../src/cli/program/cli-program.ts";
import { GLOBAL_OPTIONS } from "../src/cli/project/global-options.ts";

// npm run docs:cli: writes the commands and options of `portico` into the manual. With --check it only compares them.

const FILE = "docs/reference/cli.md";
const BLOCK = /(?<=<!-- cli: (?<name>\S+) -->\n).*?(?=<!-- end of cli -->)/gs;

const program = cliProgram(
  {
    env: {},
    cwd: "",
    print() {},
    printError() {},
    askPassword: async () => "",
    confirm: null,
    width: null,
    showStatus: null,
  },
  () => {},
);

const blocks: Readonly<Record<string, () => string>> = {
  /** A line for each group or command. */
  summary: () =>
    [
      "| command | description |",
      "|---|---|",
      ...program.commands.map((command) => {
        const names = command.commands.map((child) => child.name());
        const words = [command.name(), names.join(" \\| ")].join(" ").trim();
        return `| [\`${words}\`](#${anchor(command)}) | ${prose(command.description())} |`;
      }),
    ].join("\n"),
  commands: () => program.commands.map((command) => section(command, "###")).join("\n"),
  options: () => optionTable(GLOBAL_OPTIONS),
};

/** Replaces the text between `<!-- cli: name -->` and `<!-- end of cli -->` by the block of that name. */
export function fillManual(text: string): string {
  return text.replace(BLOCK, (...match) => {
    const { name } = match.at(-1) as { readonly name: string };
    const block = blocks[name];
    if (block === undefined) throw new Error(`there is no block named ${name}: use ${Object.keys(blocks).join(", ")}`);
    return `\n${block()}\n\n`;
  });
}

/** The description of a command, and then of the commands of its group. */
function section(command: Command, heading: string): string {
  const words = command.registeredArguments.map((given) =>
    given.required ? `<${given.name()}>` : `[${given.name()}]`,
  );
  // The heading has no arguments, so that its anchor is the name of the command.
  const name = `portico ${pathOf(command)}`;
  const usage = words.length === 0 ? [] : ["```sh", `${name} ${words.join(" ")}`, "```", ""];
  const text = [`${heading} \`${name}\``, "", ...usage, prose(command.description()) + alias(command), ""].join("\n");
  const children = command.commands.map((child) => section(child, `${heading}#`));
  return [text, ...(children.length > 0 ? children : parts(command))].join("\n");
}

function parts(command: Command): readonly string[] {
  const given = command.registeredArguments.map((argument) => [`<${argument.name()}>`, argument.description] as const);
  const global = new Set(GLOBAL_OPTIONS.map(([flags]) => flags));
  const options = command.options
    .filter(({ flags, hidden }) => !hidden && !global.has(flags))
    .map(({ flags, description, defaultValue, mandatory }) => {
      const isText = typeof defaultValue === "string";
      return [
        flags,
        `${description}${mandatory ? " (required)" : ""}${isText ? ` (default: ${defaultValue})` : ""}`,
      ] as const;
    });
  return given.length + options.length === 0 ? [] : [`${optionTable([...given, ...options])}\n`];
}

function optionTable(rows: readonly (readonly [name: string, description: string])[]): string {
  const lines = rows.map(([name, description]) => `| \`${name.replaceAll("|", "\\|")}\` | ${sentence(description)} |`);
  return ["| option | meaning |", "|---|---|", ...lines].join("\n");
}

function alias(command: Command): string {
  return command.aliases().length === 0 ? "" : ` \`${command.aliases().join("`, `")}\` is an alias.`;
}

/** The help begins an option in lower case and ends it without a full stop. */
function sentence(text: string): string {
  return prose(`${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`);
}

/** Placeholders such as `<file>` are code, because Markdown reads them as tags. */
function prose(text: string): string {
  return text.replaceAll("|", "\\|").replace(/[^\s<(]*<[^\s<>]*>/g, (word) => `\`${word}\``);
}

function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

function anchor(command: Command): string {
  return `portico-${pathOf(command).replaceAll(" ", "-")}`;
}

if (import.meta.main) {
  const text = readFileSync(FILE, "utf8");
  const filled = fillManual(text);
  const isOutdated = filled !== text;
  if (process.argv.includes("--check")) {
    if (isOutdated) console.error(`run "npm run docs:cli": ${FILE} differs from the commands`);
    process.exitCode = isOutdated ? 1 : 0;
  } else {
    writeFileSync(FILE, filled);
    console.log(`${FILE} ${isOutdated ? "written" : "is up to date"}`);
  }
}
