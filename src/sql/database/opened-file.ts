import { statSync } from "node:fs";
import { resolve } from "node:path";

/** A file that was opened by its path. Written to after it was deleted or replaced, it loses everything when it is closed. */
export class OpenedFile {
  readonly #path: string;
  readonly #identity: string | null;

  constructor(path: string) {
    this.#path = resolve(path);
    this.#identity = identityOf(this.#path);
  }

  /** Whether the path still leads to this file. */
  get isThere(): boolean {
    return identityOf(this.#path) === this.#identity;
  }
}

/** `null` if there is no file. */
function identityOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
