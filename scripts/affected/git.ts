import { spawnSync } from "node:child_process";

/** Runs Git and returns its output. Throws if Git fails. */
export function git(root: string, ...args: readonly string[]): string {
  return gitWithInput(root, "", ...args);
}

/** Runs Git with a text on its standard input. Exit code 1 is how `check-ignore` says that it found nothing. */
export function gitWithInput(root: string, input: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, input, encoding: "utf8", maxBuffer: 1 << 28 });
  if (status === 0 || (status === 1 && args[0] === "check-ignore")) return stdout;
  throw new Error(`git ${args.join(" ")} failed: ${stderr.trim()}`);
}
