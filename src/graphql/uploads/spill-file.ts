import { randomBytes } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { unavailable } from "../../core/unavailable.ts";

/**
 * A private file on disk: it is newly created, readable by this user only, and unlinked immediately. Its content is gone when
 * the process exits.
 */
export class SpillFile {
  readonly #handle: FileHandle;
  /** Set if an open file could not be unlinked; the file is then deleted when the handle closes. */
  readonly #path: string | null;
  #length = 0;

  private constructor(handle: FileHandle, path: string | null) {
    this.#handle = handle;
    this.#path = path;
  }

  static async create(directory: string): Promise<SpillFile> {
    const path = join(directory, `portico-${randomBytes(16).toString("hex")}`);
    const handle = await open(path, "wx+", 0o600).catch(fail);
    const isNameless = await rm(path).then(
      () => true,
      () => false,
    );
    return new SpillFile(handle, isNameless ? null : path);
  }

  get length(): number {
    return this.#length;
  }

  async append(bytes: Buffer): Promise<void> {
    let rest = bytes;
    while (rest.length > 0) {
      const { bytesWritten } = await this.#handle.write(rest, 0, rest.length, this.#length).catch(fail);
      this.#length += bytesWritten;
      rest = rest.subarray(bytesWritten);
    }
  }

  /** Reads at most `length` bytes from `position`. */
  async read(position: number, length: number): Promise<Buffer> {
    const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafeSlow(length), 0, length, position);
    if (bytesRead === 0) throw new Error("an upload on disk is shorter than the data written to it");
    return buffer.subarray(0, bytesRead);
  }

  /** Waits for pending reads and writes. */
  async close(): Promise<void> {
    try {
      await this.#handle.close();
    } finally {
      if (this.#path !== null) await rm(this.#path, { force: true });
    }
  }
}

/** A disk that is full, gone, broken or read-only and a lack of file descriptors are outages, so they become 503. */
const OUTAGE = /^(?:ENOSPC|EDQUOT|EMFILE|ENFILE|ENOENT|EROFS|EIO|ENODEV|ESTALE)$/;

function fail(error: NodeJS.ErrnoException): never {
  if (!OUTAGE.test(error.code ?? "")) throw error;
  throw unavailable("cannot store an upload: the disk is full or does not work, or too many files are open", error);
}
