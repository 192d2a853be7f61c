import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { root } from "../../scripts/package/repository.ts";
import { templateVersions } from "../../scripts/template-versions.ts";

const folder = join(root, "packages/create-portico");
const program = join(folder, "src/cli.ts");

/** The file that the build writes. */
export function writeVersions(): void {
  writeFileSync(join(folder, "versions.json"), JSON.stringify(templateVersions()));
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

type Environment = Readonly<Record<string, string>>;

/** Runs `create-portico` in a folder, without a terminal. */
export function runCreate(cwd: string, args: readonly string[], env: Environment = {}): Promise<Ran> {
  return ended(process.execPath, ["--no-warnings", program, ...args], cwd, env);
}

/** Runs `create-portico` on a terminal, and presses the keys once their prompt is shown. */
export function createOnTerminal(
  cwd: string,
  args: readonly string[],
  keys: readonly (readonly [prompt: string, keys: string])[],
): Promise<Ran> {
  const words = [process.execPath, "--no-warnings", program, ...args].map((word) => `'${word}'`);
  const command = ["-qec", `stty cols 120 rows 40; exec ${words.join(" ")}`, "/dev/null"];
  return ended("script", command, cwd, { TERM: "xterm", SHELL: "/bin/sh" }, keys);
}

function ended(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Environment,
  keys: readonly (readonly [string, string])[] = [],
): Promise<Ran> {
  // The variables of the package manager that runs the tests would decide which one is used.
  const child = spawn(command, [...args], { cwd, env: { PATH: process.env["PATH"], ...env } });
  const waiting = [...keys];
  let [out, err, seen] = ["", "", 0];
  child.stderr.on("data", (chunk) => (err += String(chunk)));
  child.stdout.on("data", (chunk) => {
    out += String(chunk);
    const [prompt, pressed] = waiting[0] ?? [];
    if (prompt === undefined || !stripVTControlCharacters(out.slice(seen)).includes(prompt)) return;
    waiting.shift();
    seen = out.length;
    child.stdin.write(pressed ?? "");
  });
  return new Promise((done, failed) =>
    child
      .on("error", failed)
      .on("close", (code) => done({ code, out: stripVTControlCharacters(out).replaceAll("\r\n", "\n"), err })),
  );
}
