import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CommandFailed } from "../output/command-failed.ts";

/** Asks questions on the terminal, or reads lines of standard input. */
export class Prompt {
  readonly #input: NodeJS.ReadStream;
  readonly #output: NodeJS.WritableStream;

  constructor(input: NodeJS.ReadStream, output: NodeJS.WritableStream) {
    this.#input = input;
    this.#output = output;
  }

  /** Asks for a new password twice without echo, or reads it from the first line. */
  async askPassword(): Promise<string> {
    if (!this.#input.isTTY) return (await this.#readLines([""]))[0] ?? "";
    const [password = "", repeated] = await this.#readLines(["Password: ", "Repeat the password: "]);
    if (password !== repeated) throw new CommandFailed("the passwords are not the same");
    return password;
  }

  /** Anything but `y` and `yes` means no. */
  async confirm(question: string): Promise<boolean> {
    // The terminal itself shows and edits the line.
    const lines = createInterface({ input: this.#input, output: this.#output, terminal: false });
    try {
      return /^y(?:es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
    } catch {
      // The input has ended.
      return false;
    } finally {
      lines.close();
    }
  }

  /** Reads a line for each question. The terminal does not show what is typed. */
  async #readLines(questions: readonly string[]): Promise<readonly string[]> {
    const { isTTY } = this.#input;
    // Discards the echo of readline. It turns off the echo of the terminal before the first question appears.
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input: this.#input, output: nowhere, terminal: isTTY });
    const read: string[] = [];
    try {
      this.#output.write(questions[0] ?? "");
      for await (const line of lines) {
        if (isTTY) this.#output.write("\n");
        read.push(line);
        if (read.length === questions.length) break;
        this.#output.write(questions[read.length] ?? "");
      }
      return read;
    } finally {
      lines.close();
    }
  }
}
