import { closeSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cell, Seen } from "../cell.ts";
import { alone } from "../scenes/alone.ts";
import { type Files, onDisk } from "../scenes/file-places.ts";

const TIMES = 8;
const LOCK_MS = 50;
const LOCKED_MS = 300;
const FROZEN_MS = 2_500;

const nothing: Seen = {};
const noUploads: Seen = {
  probes: { upload: 503 },
  log: "cannot store an upload",
  doctor: "Uploads.directory must be a writable directory",
};
const noSpace: Seen = {
  probes: { write: 503, upload: 503 },
  checks: ["writes"],
  log: "The disk of the database is full",
  doctor: "failed writes",
};

export const fileCells: readonly Cell[] = [
  {
    resource: "disk",
    fault: "gone",
    sees: noUploads,
    start: onDisk(({ uploads }) => rmSync(uploads, { recursive: true })),
  },
  {
    resource: "disk",
    fault: "frozen",
    sees: nothing,
    start: onDisk(async ({ mount }) => {
      mount.freeze();
      await sleep(FROZEN_MS);
      mount.thaw();
    }),
  },
  {
    resource: "disk",
    fault: "slow",
    sees: nothing,
    start: onDisk(({ mount }) => {
      let isFrozen = false;
      const turn = setInterval(() => {
        if (isFrozen) mount.thaw();
        else mount.freeze();
        isFrozen = !isFrozen;
      }, 50);
      return () => {
        clearInterval(turn);
        if (isFrozen) mount.thaw();
      };
    }),
  },
  {
    resource: "disk",
    fault: "full",
    sees: noSpace,
    start: onDisk(({ mount }) => {
      mount.fill();
      return () => mount.free();
    }),
  },
  {
    resource: "disk",
    fault: "partitioned",
    impossible: "to a process, a network disk that it can't reach is a frozen one",
  },
  {
    resource: "disk",
    fault: "flapping",
    sees: nothing,
    start: onDisk(async ({ mount }) => {
      for (let count = 0; count < TIMES; count++) {
        mount.fill();
        await sleep(LOCKED_MS);
        mount.free();
        await sleep(LOCKED_MS);
      }
    }),
  },
  {
    resource: "disk",
    fault: "refusing",
    sees: noUploads,
    start: onDisk(({ mount }) => {
      mount.coverReadOnly("uploads");
      return () => mount.uncover("uploads");
    }),
  },
  {
    resource: "disk",
    fault: "answering wrongly",
    impossible:
      "a disk can't tell wrong bytes. The only file that the product reads again is that of SQLite, which has its own cell",
  },

  {
    resource: "SQLite",
    fault: "gone",
    sees: {
      probes: { write: 503 },
      checks: ["writes"],
      log: "The database file was deleted or replaced",
      blind: "`doctor` opens a new file",
    },
    // The rows are gone with the file.
    start: onDisk(({ database }) => removeFile(database), "loses rows"),
  },
  {
    resource: "SQLite",
    fault: "frozen",
    sees: { probes: { write: 503 }, checks: ["writes"], log: "The database is busy", doctor: "failed writes" },
    start: onDisk((files) => lock(files)),
  },
  {
    resource: "SQLite",
    fault: "slow",
    sees: nothing,
    start: onDisk((files) => {
      let release: (() => void) | null = null;
      const turn = setInterval(() => {
        release?.();
        release = release === null ? lock(files) : null;
      }, LOCK_MS);
      return () => {
        clearInterval(turn);
        release?.();
      };
    }),
  },
  {
    resource: "SQLite",
    fault: "full",
    sees: noSpace,
    start: onDisk(({ mount }) => {
      mount.fill();
      return () => mount.free();
    }),
  },
  { resource: "SQLite", fault: "partitioned", impossible: "it is a file that the process opens itself" },
  {
    resource: "SQLite",
    fault: "flapping",
    sees: nothing,
    start: onDisk(async (files) => {
      for (let count = 0; count < TIMES; count++) {
        const release = lock(files);
        await sleep(LOCKED_MS);
        release();
        await sleep(LOCKED_MS);
      }
    }),
  },
  {
    resource: "SQLite",
    fault: "refusing",
    sees: { startError: "which can't be created or opened", doctor: "failed" },
    start: alone(() => {}, { settings: { database: "sqlite:/proc/shop.db" } }),
  },
  {
    resource: "SQLite",
    fault: "answering wrongly",
    sees: {
      probes: { read: 500 },
      log: "database disk image is malformed",
      blind: "`doctor` doesn't read all pages of the file",
    },
    // Nothing can read the rows any more.
    start: onDisk(({ database }) => overwrite(database), "loses rows"),
  },
];

/** Another process that writes. */
function lock({ database }: Files): () => void {
  const other = new DatabaseSync(database, { timeout: 2_000 });
  other.exec("begin immediate");
  return () => {
    other.exec("rollback");
    other.close();
  };
}

function removeFile(file: string): void {
  for (const ending of ["", "-wal", "-shm"]) rmSync(`${file}${ending}`, { force: true });
}

/** Writes over all pages. */
function overwrite(file: string): void {
  for (const name of [file, `${file}-wal`]) {
    const { size } = statSync(name);
    const opened = openSync(name, "r+");
    writeSync(opened, Buffer.alloc(size, 0xa5), 0, size, 0);
    closeSync(opened);
  }
}
