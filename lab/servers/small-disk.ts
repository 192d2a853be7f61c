import { execFileSync } from "node:child_process";
import { chownSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { serverOwner } from "./own-postgres.ts";

const SIZE = "48m";
const CHUNK = Buffer.alloc(64 * 1024);

/** A file system for the tables of a PostgreSQL, small enough to be filled. */
export class SmallDisk {
  readonly #folder: string;
  readonly #filler: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#filler = join(folder, "filler");
  }

  /** Puts the tables that are created from now on onto a disk; `null` where this user may not mount one. */
  static async under(url: string): Promise<SmallDisk | null> {
    const folder = mkdtempSync(join(tmpdir(), "portico-disk-"));
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", folder], { stdio: "ignore" });
    } catch {
      rmSync(folder, { recursive: true });
      return null;
    }
    const { uid, gid } = serverOwner();
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
    const admin = new Client({ connectionString: url });
    await admin.connect();
    await admin.query(`create tablespace small location '${folder}'`);
    await admin.query("alter system set default_tablespace = 'small'");
    await admin.query("select pg_reload_conf()");
    await admin.end();
    return new SmallDisk(folder);
  }

  fill(): void {
    const file = openSync(this.#filler, "w");
    try {
      for (;;) writeSync(file, CHUNK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  /** Once the server has been removed. */
  remove(): void {
    execFileSync("umount", ["--lazy", this.#folder]);
    rmSync(this.#folder, { recursive: true });
  }
}
