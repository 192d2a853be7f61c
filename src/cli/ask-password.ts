import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Prompts for the password without echo on a terminal, or reads the first line of standard input. */
export async function askPassword(input: NodeJS.ReadStream, output: NodeJS.WritableStream): Promise<string> {
  if (input.isTTY) output.write("Password: ");
  // Discards the echo of readline.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: input.isTTY });
  try {
    for await (const line of lines) return line;
    return "";
  } finally {
    lines.close();
    if (input.isTTY) output.write("\n");
  }
}
