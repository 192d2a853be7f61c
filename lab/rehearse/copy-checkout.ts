import { cpSync, existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { run, terminal } from "../newcomer/shell.ts";

/** Copies the files of a checkout that git knows or would add, and makes the copy a repository with one commit. */
export async function copyCheckout(root: string, copy: string): Promise<void> {
  const env = terminal();
  const listed = await run(root, env, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard");
  for (const file of listed.split("\0").filter((path) => path !== "" && existsSync(join(root, path))))
    cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const identity = ["-c", "user.name=Rehearsal", "-c", "user.email=rehearsal@portico.example"];
  await run(copy, env, "git", "init", "--quiet", "--initial-branch=main");
  await run(copy, env, "git", "add", "--all");
  await run(copy, env, "git", ...identity, "commit", "--quiet", "--message", "The state to release");
}
