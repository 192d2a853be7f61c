import type { Readable } from "node:stream";
import type { AppProcess } from "../app-process.ts";
import type { Scene } from "../cell.ts";

type Parts = Partial<Omit<Scene, "break" | "remove">>;

/** A scene in which nothing is a server. */
export function alone(breaks: (app: AppProcess) => unknown, parts: Parts = {}): () => Promise<Scene> {
  return async () => ({ settings: {}, ...parts, break: breaks, remove: async () => {} });
}

/** A scene in which another process reads the standard output. */
export function piped(breaks: (output: Readable) => unknown): () => Promise<Scene> {
  return alone(
    async (app) => {
      await breaks(app.child.stdout as Readable);
      await app.breakInside("noise");
    },
    { output: "pipe" },
  );
}
