import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { builtDoors, builtPackage } from "../../scripts/package/built-package.ts";
import { runCli } from "../../src/cli/program/run-cli.ts";

export const PASSWORD = "correct horse battery";
export const REDIS_URL = "redis://127.0.0.1:6379";

const root = resolve(import.meta.dirname, "../..");

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Environment {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

interface Piped extends Environment {
  /** Standard input. */
  readonly input?: string;
  /** More options for Node. */
  readonly node?: readonly string[];
}

interface Terminal extends Environment {
  readonly answers?: Answers;
}

/** The answers on a terminal: the prompt that is waited for, and the line that is typed. */
export type Answers = readonly (readonly [prompt: string, line: string])[];

interface Here extends Environment {
  /** Standard input. */
  readonly input?: string;
  /** The answer to a question. Without it, there is no terminal to ask on. */
  readonly answer?: boolean;
  /** The width of the terminal. @default no terminal */
  readonly width?: number | null;
  /** Receives the texts about the work. */
  readonly showStatus?: (text: string) => void;
}

/** The arguments of `node` that start the program. */
const porticoArgs = (): readonly string[] => [...builtDoors(), join(builtPackage(), "dist/cli/portico.js")];

/** Starts the program as a shell would. */
export function startPortico(
  args: readonly string[],
  { env = {}, cwd = root, node = [] }: Piped = {},
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...node, ...porticoArgs(), ...args], { cwd, env: environment(env) });
}

/** Runs the program to its end. */
export async function runPortico(args: readonly string[], piped: Piped = {}): Promise<Ran> {
  const child = startPortico(args, piped);
  child.stdin.end(piped.input ?? "");
  return plain(await ended(child));
}

/** Starts the program on a terminal, which has one stream for output and errors. */
export function startOnTerminal(
  args: readonly string[],
  { env = {}, cwd = root }: Environment = {},
): ChildProcessWithoutNullStreams {
  const words = [process.execPath, ...porticoArgs(), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  return spawn("script", ["-qec", `stty cols 200; exec ${words.join(" ")}`, "/dev/null"], {
    cwd,
    env: { ...environment(env), TERM: "xterm", SHELL: "/bin/sh" },
  });
}

/** Runs the program on a terminal to its end. */
export async function runOnTerminal(args: readonly string[], { answers = [], ...around }: Terminal = {}): Promise<Ran> {
  const child = startOnTerminal(args, around);
  const waiting = [...answers];
  let shown = "";
  child.stdout.on("data", (chunk) => {
    shown += String(chunk);
    const [prompt, line] = waiting[0] ?? [];
    if (prompt === undefined || !shown.includes(prompt)) return;
    waiting.shift();
    shown = "";
    child.stdin.write(`${line}\n`);
  });
  const ran = await ended(child);
  // A command that takes longer than a second shows its progress, and writes spaces over it.
  return { ...ran, out: ran.out.replaceAll(/.*\r(?!\n)/g, "") };
}

/** Runs a command in this process, because a new process takes a second to start. */
export async function runHere(
  args: readonly string[],
  { env = {}, cwd = import.meta.dirname, input = "", answer, width = null, showStatus }: Here = {},
): Promise<Ran> {
  let [out, err] = ["", ""];
  const printError = (line: string): void => void (err += `${line}\n`);
  const confirm = async (question: string): Promise<boolean> => {
    printError(question);
    return answer === true;
  };
  const code = await runCli(args, {
    env,
    cwd,
    width,
    showStatus: showStatus ?? null,
    print: (line) => void (out += `${line}\n`),
    printError,
    askPassword: async () => input.split("\n")[0] ?? "",
    confirm: answer === undefined ? null : confirm,
  });
  return plain({ code, out, err });
}

function environment(env: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return { PATH: process.env["PATH"], ...env };
}

/** No command writes an escape sequence into a pipe. */
function plain(ran: Ran): Ran {
  const found = `${ran.out}\n${ran.err}`.split("\n").find((line) => line.includes("\u001b") || line.includes("\u009b"));
  if (found !== undefined) throw new Error(`an escape sequence in a pipe: ${JSON.stringify(found)}`);
  return ran;
}

async function ended(child: ChildProcessWithoutNullStreams): Promise<Ran> {
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => (out += String(chunk)));
  child.stderr.on("data", (chunk) => (err += String(chunk)));
  const code = await new Promise<number | null>((done, failed) => child.on("close", done).on("error", failed));
  return { code, out: out.replaceAll("\r\n", "\n"), err };
}
