import type { CredentialCatcher } from "./credential-catcher.ts";

/** So much is kept before it is looked through: tests that measure memory run under the scan, too. */
const MAX_CHARACTERS = 500_000;

/** Text that no credential may be in. It is looked through from time to time, and at the end. */
export class ScannedText {
  readonly #catcher: CredentialCatcher;
  readonly #leaks = new Set<string>();
  #unread: string[] = [];
  #characters = 0;

  constructor(catcher: CredentialCatcher) {
    this.#catcher = catcher;
  }

  add(text: string): void {
    this.#unread.push(text);
    this.#characters += text.length;
    if (this.#characters > MAX_CHARACTERS) this.#read();
  }

  leaks(): readonly string[] {
    this.#read();
    return [...this.#leaks];
  }

  #read(): void {
    for (const leak of this.#catcher.leaksIn(this.#unread.join("\n"))) this.#leaks.add(leak);
    this.#unread = [];
    this.#characters = 0;
  }
}
