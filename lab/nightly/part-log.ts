import { closeSync, openSync, writeSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

/** The output of a part, on the terminal and in a file. */
export class PartLog {
  readonly #file: number;
  #tail = "";

  constructor(file: string) {
    this.#file = openSync(file, "w");
  }

  /** Adds text of a command. */
  write(text: string): void {
    this.note(text);
    // The last line is short, and everything before it is in the file.
    this.#tail = `${this.#tail}${text}`.slice(-4_000);
  }

  /** Adds text that is not a command's. */
  note(text: string): void {
    process.stdout.write(text);
    writeSync(this.#file, text);
  }

  /** The last line of a command that says something. */
  get lastLine(): string {
    const lines = stripVTControlCharacters(this.#tail).split(/\r?\n/);
    return (
      lines
        .map((line) => line.trim())
        .findLast((line) => line !== "")
        ?.slice(0, 300) ?? ""
    );
  }

  close(): void {
    closeSync(this.#file);
  }
}
