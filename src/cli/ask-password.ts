import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

/** Asks on a terminal without showing what is typed; else it is the first line of the input. */
export async function askPassword(input: NodeJS.ReadStream, output: NodeJS.WritableStream): Promise<string> {
  if (input.isTTY) output.write("Password: ");
  // What readline would show goes nowhere.
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
