import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Mail } from "portico/auth";

/** The stores of the processes, and the place in them that only one test file uses. */
export interface VersionPlace {
  readonly database: string;
  readonly prefix: string;
  readonly stores: "Redis" | "PostgreSQL";
  /** Whether it runs its migrations first. */
  readonly migrates?: boolean;
}

/** A change of the sources, as a mistake in a later version would be. */
export interface Plant {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A process that runs the application with one version of Portico. */
export class VersionProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #mails: Mail[] = [];

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    child.on("message", ({ mail }: { readonly mail?: Mail }) => mail !== undefined && this.#mails.push(mail));
  }

  /** @param version the URL of the folder with the entry points */
  static async start(
    version: URL,
    { database, prefix, stores, migrates = false }: VersionPlace,
    plants: readonly Plant[] = [],
  ): Promise<VersionProcess> {
    const child = fork(new URL("fixtures/serve.ts", import.meta.url), [database, prefix, stores, String(migrates)], {
      execArgv: ["--no-warnings", "--import", new URL("fixtures/version-doors.mjs", import.meta.url).href],
      env: { ...process.env, PORTICO_VERSION: version.href, PORTICO_PLANTS: JSON.stringify(plants) },
    });
    const url = await new Promise<string>((resolve, reject) => {
      child.once("message", ({ at }: { readonly at: string }) => resolve(at));
      child.once("exit", (code) => reject(new Error(`The process of ${version.href} ended with ${code} at startup`)));
    });
    return new VersionProcess(child, url);
  }

  /** Returns the token of the newest link that was sent to an address; `null` if there is none yet. */
  mailedToken(to: string): string | null {
    const newest = this.#mails.findLast((mail) => mail.to === to && mail.url !== null);
    return newest === undefined ? null : new URL(newest.url ?? "").searchParams.get("token");
  }

  async close(): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.send("close");
    await exited;
  }
}

/** An unpacked release. */
export interface UnpackedRelease {
  readonly entryPoints: URL;
  remove(): void;
}

/** Unpacks a release below the repository, so that Node finds its dependencies in the repository's `node_modules`. */
export function unpack(file: string): UnpackedRelease {
  const releases = fileURLToPath(new URL("../../../.cache/releases/", import.meta.url));
  mkdirSync(releases, { recursive: true });
  const folder = mkdtempSync(join(releases, "unpacked-"));
  execFileSync("tar", ["-xzf", fileURLToPath(new URL(file, import.meta.url)), "-C", folder]);
  return {
    entryPoints: pathToFileURL(join(folder, "package", "dist", "/")),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
