import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** The events that the other process received. */
export interface SecondProcess {
  readonly port: number;
  /** Numbers of the topic; `null` is a gap. */
  readonly heard: readonly (number | null)[];
  readonly close: () => Promise<void>;
}

/** Runs the application of `shop-app.ts` in another process, which subscribes to a topic. */
export async function secondProcess(url: string, prefix: string, topic: string): Promise<SecondProcess> {
  const child = runFixture("second-process.ts", [url, prefix, topic]);
  const heard: (number | null)[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.on("message", (message: { readonly port?: number; readonly number?: number }) => {
    if (message.port === undefined) heard.push(message.number ?? null);
    else resolve(message.port);
  });
  child.once("exit", (code) => reject(new Error(`the second process has ended with ${code}`)));
  return {
    port: await promise,
    heard,
    close: async () => {
      const exited = once(child, "exit");
      child.send("close");
      await exited;
    },
  };
}

export function runFixture(name: string, args: readonly string[]): ChildProcess {
  return fork(new URL(`./fixtures/${name}`, import.meta.url), args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    execArgv: [],
  });
}
