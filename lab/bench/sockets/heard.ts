import type { ChildProcess } from "node:child_process";

/** The next message of a process that has this key; rejects when the process ends without one. */
export function heard<T>(child: ChildProcess, key: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const listen = (message: object): void => {
      if (!(key in message)) return;
      child.off("message", listen);
      child.off("exit", fail);
      resolve(message as T);
    };
    const fail = (code: number | null): void =>
      reject(new Error(`the process ended with ${code} before it said ${key}`));
    child.on("message", listen);
    child.on("exit", fail);
  });
}
