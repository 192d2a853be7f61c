import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SIZE_MB = 20;
const CHUNK = 4_096;

/** A disk of 20 MB in a file. Only root can mount it. */
export class SmallMount {
  readonly path: string;
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.path = join(folder, "disk");
  }

  static create(): SmallMount {
    const mount = new SmallMount(mkdtempSync(join(tmpdir(), "portico-disk-")));
    const image = join(mount.#folder, "image");
    writeFileSync(image, "");
    truncateSync(image, SIZE_MB * 1024 ** 2);
    mkdirSync(mount.path);
    execFileSync("mkfs.ext4", ["-q", "-m", "0", image]);
    execFileSync("mount", ["-o", "loop", image, mount.path]);
    return mount;
  }

  /** Leaves no space. */
  fill(): void {
    const filler = openSync(join(this.path, "filler"), "w");
    try {
      for (;;) writeSync(filler, Buffer.alloc(CHUNK));
    } catch {
      closeSync(filler);
    }
  }

  free(): void {
    rmSync(join(this.path, "filler"), { force: true });
  }

  /** Every write waits until `thaw`. */
  freeze(): void {
    execFileSync("fsfreeze", ["-f", this.path]);
  }

  thaw(): void {
    execFileSync("fsfreeze", ["-u", this.path]);
  }

  /** Covers a folder by one without write permission. */
  coverReadOnly(folder: string): void {
    execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", join(this.path, folder)]);
  }

  uncover(folder: string): void {
    execFileSync("umount", ["-l", join(this.path, folder)]);
  }

  remove(): void {
    execFileSync("umount", ["-l", this.path]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
