#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { askPassword } from "./ask-password.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

const args = process.argv.slice(2);
try {
  if (args[0] === "--version") say(version());
  else {
    const { runCommand } = await import("./run-command.ts");
    process.exitCode = await runCommand(args, {
      env: process.env,
      say,
      complain,
      askPassword: () => askPassword(process.stdin, process.stderr),
    });
  }
} catch (error) {
  // kysely is an optional peer dependency, which only applications with a database install.
  const isMissing = (error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND" && /'kysely'/.test(String(error));
  if (!isMissing) throw error;
  complain('portico: the package "kysely" is required. Run: npm install kysely');
  process.exitCode = 1;
}

function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}
