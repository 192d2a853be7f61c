#!/usr/bin/env node
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { compileCache } from "./process/compile-cache.ts";

// As `node --env-file=.env` does. A variable that is already set keeps its value.
if (existsSync(".env")) process.loadEnvFile();
const cache = compileCache(process.cwd());
if (cache !== undefined) enableCompileCache(cache);
// Only modules that are loaded from here on come from the cache.
const [{ runCli }, { Prompt }] = await Promise.all([import("./program/run-cli.ts"), import("./process/prompt.ts")]);

// The reader of a pipe may have seen enough, such as `head`.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => process.exit());

let shown = "";
/** Spaces hide the end of the text before, without an escape sequence. */
function showStatus(text: string): void {
  process.stderr.write(`\r${text.padEnd(shown.length)}${text === "" ? "\r" : ""}`);
  shown = text;
}

const prompt = new Prompt(process.stdin, process.stderr);
const code = await runCli(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  print: (line) => {
    process.stdout.write(`${line}\n`);
  },
  printError: (line) => {
    process.stderr.write(`${line}\n`);
  },
  askPassword: () => prompt.askPassword(),
  confirm: process.stdin.isTTY ? (question) => prompt.confirm(question) : null,
  width: process.stdout.isTTY ? process.stdout.columns : null,
  showStatus: process.stderr.isTTY ? showStatus : null,
});
// Modules of the application may keep connections or timers that the command does not know.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.write("", () => done()))),
);
process.exit(code);
