import { globSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { newPrefix } from "../../../lab/servers/redis-server.ts";
import { removeKeys } from "../../redis/remove-keys.ts";
import { migratedPlace, newPlace, type Place } from "../../sql/accounts/databases.ts";
import { addBooks } from "./add-books.ts";
import { checkMigrations, formats } from "./formats.ts";
import { type Plant, type UnpackedRelease, unpack, VersionProcess } from "./version-process.ts";

// One incompatible change per stored format. The checks of releases.servers.test.ts have to find it.

const plants: Readonly<Record<string, Plant>> = {
  sessions: { file: "auth/sessions/session-store.ts", from: "`session:${handle}`", to: "`sessions:${handle}`" },
  tokens: { file: "auth/tokens/refresh-families.ts", from: "`refresh:${digestOf", to: "`families:${digestOf" },
  keys: { file: "auth/api-keys/api-key-store.ts", from: "`apikey:${id}`", to: "`key:${id}`" },
  cursors: { file: "pagination/cursor/cursor-keys.ts", from: "portico cursor ${purpose}", to: "cursor ${purpose}" },
  events: { file: "redis/redis-pub-sub.ts", from: ":bus:${topic}", to: ":events:${topic}" },
  counters: { file: "kernel/limits/rate-limit.ts", from: "`rate:${name", to: "`limit:${name" },
};
/** A process has several changes at once, none of which the check of another one meets. */
const TOGETHER = [
  ["sessions", "cursors", "counters"],
  ["tokens", "keys", "events"],
] as const;
const migrations: Plant = { file: "sql/migrations/shipped-migrations.ts", from: "username_key", to: "unique_username" };

/** What is expected not to arrive is not waited for any longer. */
const BRIEFLY = { timeout: 2_000 };
/** How an expectation ends, as opposed to a process that does not start. */
const FAILED = /^expected /;

const sources = new URL("../../../src/", import.meta.url);
const [newest = ""] = globSync("*.tgz", { cwd: import.meta.dirname })
  .toSorted()
  .toReversed();
let release: UnpackedRelease;
let place: Place;
let old: VersionProcess;
const prefix = newPrefix();
beforeAll(async () => {
  place = await migratedPlace("PostgreSQL");
  await addBooks(place);
  release = unpack(newest);
  old = await VersionProcess.start(release.entryPoints, { database: place.url, prefix, stores: "Redis" });
});
afterAll(async () => {
  await old?.close();
  await place?.remove();
  await removeKeys(prefix);
  release?.remove();
});

it("covers every format", () => {
  expect(Object.keys(plants).toSorted()).toEqual(formats.map(({ name }) => name).toSorted());
  expect(TOGETHER.flat().toSorted()).toEqual(Object.keys(plants).toSorted());
});

describe("an incompatible change is found in both directions", () => {
  describe.each(TOGETHER.map((names) => ({ names })))("of $names", ({ names }) => {
    let changed: VersionProcess;
    beforeAll(async () => {
      const at = { database: place.url, prefix, stores: "Redis" } as const;
      changed = await VersionProcess.start(
        sources,
        at,
        names.map((name) => plants[name] as Plant),
      );
    });
    afterAll(() => changed?.close());

    it.each(formats.filter((format) => names.some((name) => name === format.name)))("of $name", async (format) => {
      const { name, check } = format;
      await expect(check(old, changed, `${name}-forth`, BRIEFLY)).rejects.toThrow(FAILED);
      await expect(check(changed, old, `${name}-back`, BRIEFLY)).rejects.toThrow(FAILED);
    });
  });

  it("of migrations", async () => {
    const [first, second] = [await newPlace("PostgreSQL"), await newPlace("PostgreSQL")];
    onTestFinished(async () => {
      await Promise.all([first.remove(), second.remove()]);
    });
    const start =
      (version: URL, { url }: Place, ...planted: readonly Plant[]) =>
      () =>
        VersionProcess.start(version, { database: url, prefix, stores: "PostgreSQL", migrates: true }, planted);

    await expect(checkMigrations(start(sources, first, migrations), start(release.entryPoints, first))).rejects.toThrow(
      FAILED,
    );
    await expect(checkMigrations(start(release.entryPoints, second), start(sources, second))).resolves.toBeUndefined();
  });
});
