import { execFile } from "node:child_process";
import type { Scene } from "./cell.ts";
import { faultEnv } from "./fault-env.ts";

const CLI = new URL("../../src/cli/portico.ts", import.meta.url).pathname;
const CONFIG = new URL("fault-config.ts", import.meta.url).pathname;
const DOCTOR_MS = 60_000;

/** The warnings and failures, such as `failed database ...`, that `portico doctor` prints for the application of a scene. */
export async function doctor({ settings, under = [] }: Scene): Promise<string> {
  const [program, ...args] = [...under, process.execPath, "--no-warnings", CLI];
  const env = { ...faultEnv(), FAULT_SETTINGS: JSON.stringify(settings) };
  const output = await new Promise<string>((resolve) => {
    const options = { env, timeout: DOCTOR_MS, killSignal: "SIGKILL" as const };
    execFile(program, [...args, "doctor", "--config", CONFIG], options, (_error, out, problems) =>
      resolve(`${out}\n${problems}`),
    );
  });
  return output
    .split("\n")
    .filter((line) => !line.startsWith("ok "))
    .map((line) => line.replace(/ +/g, " "))
    .join("\n");
}
