import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { cliProgram } from "../../src/cli/program/cli-program.ts";
import { runHere, runPortico } from "./run-portico.ts";
import { temporaryFolder } from "./temporary-folder.ts";

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
const paths = (command: Command, before: readonly string[]): readonly (readonly string[])[] =>
  command.commands.flatMap((child) => [[...before, child.name()], ...paths(child, [...before, child.name()])]);

describe("portico --help", () => {
  it.each(paths(program, []).map((words) => words.join(" ")))(
    "shows the help of %s, without a database",
    async (words) => {
      const answers = [await runHere([...words.split(" "), "--help"]), await runHere([...words.split(" "), "-h"])];

      for (const { code, out, err } of answers) {
        expect({ code, err }).toEqual({ code: 0, err: "" });
        // A command with a second name shows both.
        expect(out).toMatch(new RegExp(`^Usage: portico ${words}[ |]`));
      }
    },
  );

  it.each([[["--help"]], [["help"]], [["-h"]]])("lists the commands for %j", async (args) => {
    const { code, out } = await runHere(args);

    expect(code).toBe(0);
    for (const group of program.commands) expect(out).toMatch(new RegExp(`^  ${group.name()}\\b`, "m"));
    expect(out).toContain("Applies, reverts and lists the migrations of the database.");
  });

  it("describes every command, argument and option", () => {
    const described = (command: Command): void => {
      expect(command.description(), command.name()).toMatch(/^[A-Z`].*\.$/s);
      for (const { description, flags } of command.options) expect(description, flags).toMatch(/^[a-z`"].*[^.]$/);
      for (const argument of command.registeredArguments)
        expect(argument.description, `${command.name()} ${argument.name()}`).not.toBe("");
      for (const child of command.commands) described(child);
    };
    described(program);
  });

  it("reads like the help of other tools: one form for exit codes and for defaults", () => {
    const texts = (command: Command): readonly string[] => [
      command.description(),
      ...command.options.map(({ description }) => description),
      ...command.registeredArguments.map(({ description }) => description),
      ...command.commands.flatMap(texts),
    ];
    const all = texts(program);
    expect(all.filter((text) => /\bends? with\b|\bfail if\b|with [12] if/i.test(text))).toEqual([]);
    expect(
      all.filter((text) => /default/.test(text) && !/\(default: [^)]+\)/.test(text) && !text.startsWith("print")),
    ).toEqual([]);
    expect(all.filter((text) => /exit/i.test(text) && !/xits? with code \d/.test(text))).toEqual([]);
  });

  it("imports neither the framework nor a database", async () => {
    const folder = await temporaryFolder();
    const hook = join(folder, "hook.mjs");
    await writeFile(
      hook,
      `import { registerHooks } from "node:module";
      registerHooks({ resolve(specifier, context, next) {
        const found = next(specifier, context);
        process.stderr.write(found.url + "\\n");
        return found;
      } });`,
    );

    const { code, err } = await runPortico(["--help"], { node: ["--import", hook] });

    expect(code).toBe(0);
    const files = err.split("\n").filter((url) => url.startsWith("file:"));
    expect(files.some((url) => url.includes("/node_modules/commander/"))).toBe(true);
    const packages = files.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
    expect([...new Set(packages)]).toEqual(["commander"]);
  });
});

describe("portico", () => {
  it("prints its version", async () => {
    const { version } = JSON.parse(await readFile(resolve(import.meta.dirname, "../../package.json"), "utf8")) as {
      readonly version: string;
    };

    expect(await runPortico(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
    expect(await runHere(["-V"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  it.each([
    ["usr", "unknown command 'usr'\n(Did you mean user?)"],
    ["migrat up", "unknown command 'migrat'\n(Did you mean migrate?)"],
    ["user creat", "unknown command 'creat'\n(Did you mean create?)"],
    ["keys revok ann x", "unknown command 'revok'\n(Did you mean revoke?)"],
    ["user list --serch ann", "unknown option '--serch'\n(Did you mean --search?)"],
    ["migrate up --databse x", "unknown option '--databse'\n(Did you mean --database?)"],
    ["--confg x migrate up", "unknown option '--confg'\n(Did you mean --config?)"],
  ])("suggests what %j probably means", async (words, sentence) => {
    expect(await runHere(words.split(" "))).toEqual({ code: 2, out: "", err: `portico: ${sentence}\n` });
  });

  it.each([
    [[], "Usage: portico [options] [command]"],
    [["migrate", "sideways"], "unknown command 'sideways'"],
    [["migrate", "up"], "no database: pass --database <url>, set DATABASE_URL"],
    [["user", "disable"], "missing required argument 'who'"],
    [["user", "create"], "required option '--email <address>' not specified"],
    [["migrate", "up", "now"], "too many arguments"],
    [["migrate", "up", "--fast"], "portico: unknown option '--fast'\n"],
    [["--fast"], "unknown option '--fast'"],
    [["user"], "Usage: portico user [options] [command]"],
    [
      ["keys", "list", "ann", "--stores", "redis", "--database", "sqlite::memory:"],
      "requires --redis <url> or REDIS_URL",
    ],
    [["keys", "list", "ann", "--stores", "paper", "--database", "sqlite::memory:"], '"database" or "redis"'],
    [["migrate", "up", "--config", "none.ts"], "--config none.ts: the file does not exist"],
  ])("rejects %j with exit code 2 and the reason", async (args, sentence) => {
    const { code, out, err } = await runHere(args);

    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(sentence);
    expect(err).not.toContain("    at ");
  });

  it("ends its process with the exit code", async () => {
    expect(await runPortico(["migrate", "sideways"])).toMatchObject({ code: 2, out: "" });
    expect(await runPortico(["migrate", "up", "--database", "mysql://db/x"])).toMatchObject({ code: 1, out: "" });
  });

  it.each([
    ["mysql://root:hunter2@db/x", 'received "mysql://root:***@db/x"'],
    ["postgres://root:hunter2@127.0.0.1:1/x", "The database is unreachable: "],
  ])("rejects --database %s with exit code 1, without showing the password", async (url, sentence) => {
    const { code, out, err } = await runPortico(["migrate", "up", "--database", url]);

    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(sentence);
    expect(err).not.toContain("hunter2");
    expect(err).not.toContain("    at ");
  });

  it("accepts the global options before the command", async () => {
    const { code, out } = await runHere(["--json", "--database", "sqlite::memory:", "migrate", "status"]);

    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ migrations: [{ name: "0001_users", appliedAt: null }, {}, {}, {}] });
  });

  it("names the package that is not installed", async () => {
    const folder = await temporaryFolder();
    const hook = join(folder, "hook.mjs");
    await writeFile(
      hook,
      `import { registerHooks } from "node:module";
      registerHooks({ resolve(specifier, context, next) {
        return next(specifier === "kysely" ? "kysely-that-is-missing" : specifier, context);
      } });`,
    );

    expect(await runPortico(["migrate", "up", "--database", "sqlite::memory:"], { node: ["--import", hook] })).toEqual({
      code: 1,
      out: "",
      err: 'portico: the package "kysely-that-is-missing" is required. Run: npm install kysely-that-is-missing\n',
    });
  });

  it("ends quietly when the reader of a pipe has ended", () => {
    const program = resolve(import.meta.dirname, "../../src/cli/portico.ts");
    const command = `(sleep 0.2; '${process.execPath}' --no-warnings '${program}' --help; echo "code $?" >&2) | true`;
    const { stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });

    expect(stderr).toBe("code 0\n");
  });
});
