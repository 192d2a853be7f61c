import { globSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { read, root } from "../../scripts/package/repository.ts";
import { cliProgram } from "../../src/cli/program/cli-program.ts";

const program = cliProgram({ print() {}, printError() {} } as never, () => {});
/** The manual is generated from the program. */
const MANUAL = "docs/reference/cli.md";
const pages = globSync(["README.md", "docs/**/*.md", "examples/*/README.md", "packages/*/README.md"], {
  cwd: root,
}).filter((page) => page !== MANUAL);

/** Each call of `portico` in the shell blocks of the pages, with its page. */
const calls = pages.flatMap((page) =>
  [...read(page).matchAll(/^```(?:sh|bash|console)\n(?<text>.*?)^```$/gms)].flatMap(({ groups }) =>
    (groups?.["text"] ?? "")
      .replaceAll(/\\\n\s*/g, " ")
      .split(/\n|&&|;|\|/)
      .flatMap((line) => {
        const call = /(?:^|\s)(?:npx |pnpm |yarn )?portico (?<rest>[^#]+)/.exec(line)?.groups?.["rest"];
        return call === undefined || /\bcreate\s+portico\b|\b(?:install|add|i)\b.*\bportico\b/.test(line)
          ? []
          : [[page, call.trim()] as const];
      }),
  ),
);

describe("the commands of the pages", () => {
  it("are found", () => {
    expect(calls.length).toBeGreaterThan(40);
  });

  it("exist, with the options and arguments that the pages use", () => {
    expect(
      calls.flatMap(([page, call]) => faultsOf(call).map((fault) => `${page}: portico ${call}: ${fault}`)),
    ).toEqual([]);
  });

  it.each([
    ["migrat up", "there is no command migrat"],
    ["migrate up --databse x", "there is no option --databse"],
    ["why ann", "needs 2 arguments"],
    ["doctor now", "takes no more than 0 arguments"],
  ])("would be reported: portico %s", (call, fault) => {
    expect(faultsOf(call)).toEqual([expect.stringContaining(fault)]);
  });
});

/** What the parser would say about a call, without running it. */
function faultsOf(call: string): readonly string[] {
  const words = [...call.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word.replaceAll(/^["']|["']$/g, ""));
  let command: Command = program;
  let given = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (/^[<>]|^2>/.test(word)) break;
    if (word.startsWith("-")) {
      const [name] = word.split("=");
      const option = [...command.options, ...program.options].find(
        ({ long, short }) => long === name || short === name,
      );
      if (option === undefined) return [`there is no option ${name}`];
      if ((option.required || (option.optional && !words[at + 1]?.startsWith("-"))) && !word.includes("=")) at += 1;
      continue;
    }
    const next = command.commands.find((below) => below.name() === word);
    if (next !== undefined) command = next;
    else if (command.commands.length > 0) return [`there is no command ${word}`];
    else given += 1;
  }
  const known = command.registeredArguments;
  const needed = known.filter(({ required }) => required).length;
  if (given < needed) return [`needs ${needed} arguments`];
  const isVariadic = known.at(-1)?.variadic === true;
  return given > known.length && !isVariadic ? [`takes no more than ${known.length} arguments`] : [];
}
