#!/usr/bin/env node
import { askPassword } from "./ask-password.ts";

const complain = (line: string): void => void process.stderr.write(`${line}\n`);

try {
  const { runCommand } = await import("./run-command.ts");
  process.exitCode = await runCommand(process.argv.slice(2), {
    env: process.env,
    say: (line) => void process.stdout.write(`${line}\n`),
    complain,
    askPassword: () => askPassword(process.stdin, process.stderr),
  });
} catch (error) {
  // It is an optional peer: who has no database has no use for these commands.
  const isMissing = (error as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND" && /'kysely'/.test(String(error));
  if (!isMissing) throw error;
  complain('portico: this needs the package "kysely": npm install kysely');
  process.exitCode = 1;
}
