import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** A program of Node's that listens somewhere. */
export interface Program {
  /** Where it listens, by its first line that says so. */
  readonly url: string;
  /** Posts JSON to a path of it. */
  post(path: string, body: object, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** Sends the signal and gives the exit code; `null` when the signal itself ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `node file` on a free port and waits until it says where it listens. Rejects with its output if it ends before. */
export async function startProgram(
  folder: string,
  file: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Program> {
  // The variables of the test runner are not the user's.
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { PATH, PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  const url = await listening(child);
  return {
    url,
    post: (path, body, headers) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    async end(signal) {
      child.kill(signal);
      return (await exited)[0];
    },
  };
}

async function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (chunk: Buffer): void => {
      output += String(chunk);
      const url = /^listening on (http:\S+)$/m.exec(output)?.[1];
      if (url !== undefined) resolve(url);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.on("exit", (code) => reject(new Error(`ended with ${code} before it listened:\n${output}`)));
  });
}
