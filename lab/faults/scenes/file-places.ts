import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AppProcess } from "../app-process.ts";
import type { Scene } from "../cell.ts";
import { SMALL_HEAP_MB } from "../inner-faults.ts";
import { SmallMount } from "./small-mount.ts";

/** The disk of a process: a SQLite file, and the folder of uploads. */
export interface Files {
  readonly mount: SmallMount;
  readonly database: string;
  readonly uploads: string;
}

/** Options of Node for little memory. */
export const SMALL_HEAP: readonly string[] = [`--max-old-space-size=${SMALL_HEAP_MB}`];

/** Breaks something, and may return the function that ends the fault. */
type Breaks = (files: Files, app: AppProcess) => unknown;

/**
 * A scene with files on a small disk.
 *
 * @param options whether the fault is the loss of the rows, and whether the heap is small
 */
export function onDisk(breaks: Breaks, ...options: readonly ("loses rows" | "small heap")[]): () => Promise<Scene> {
  return async () => {
    const mount = SmallMount.create();
    const files = { mount, database: join(mount.path, "shop.db"), uploads: join(mount.path, "uploads") };
    mkdirSync(files.uploads);
    let end: unknown;
    const finish = async (): Promise<void> => {
      if (typeof end === "function") await end();
      end = undefined;
    };
    return {
      settings: { database: `sqlite:${files.database}`, uploads: files.uploads },
      ...(options.includes("loses rows") ? {} : { rows: async () => rowsOf(files.database) }),
      ...(options.includes("small heap") ? { node: SMALL_HEAP } : {}),
      break: async (app) => {
        end = await breaks(files, app);
      },
      end: finish,
      remove: async () => {
        await finish();
        mount.remove();
      },
    };
  };
}

function rowsOf(file: string): readonly number[] {
  const database = new DatabaseSync(file);
  try {
    return database
      .prepare("select id from things")
      .all()
      .map(({ id }) => Number(id));
  } finally {
    database.close();
  }
}
