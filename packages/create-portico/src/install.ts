import { spawn } from "node:child_process";
import { CannotCreate } from "./cannot-create.ts";
import type { PackageManager } from "./package-manager.ts";

const ARGUMENTS: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ["install", "--no-audit", "--no-fund", "--loglevel=error"],
  pnpm: ["install"],
  yarn: ["install"],
};

/** Installs the dependencies. Rejects with the output of the package manager if that fails. */
export async function install(folder: string, packageManager: PackageManager): Promise<void> {
  const output: string[] = [];
  const code = await new Promise<number | string | null>((resolve) => {
    // On Windows, package managers are batch files, which need a shell.
    const child = spawn(packageManager, [...ARGUMENTS[packageManager]], {
      cwd: folder,
      shell: process.platform === "win32",
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => output.push(String(chunk)));
    child.on("error", (error) => resolve(error.message));
    child.on("close", resolve);
  });
  if (code === 0) return;
  throw new CannotCreate(
    `"${packageManager} install" failed in ${folder} (${code}). The files were created, so you can run it again\n${output.join("").trimEnd()}`.trimEnd(),
  );
}
