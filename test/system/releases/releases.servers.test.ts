import { globSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newPrefix } from "../../../lab/servers/redis-server.ts";
import { removeKeys } from "../../redis/remove-keys.ts";
import { migratedPlace, newPlace, type Place } from "../../sql/accounts/databases.ts";
import { addBooks } from "./add-books.ts";
import { checkMigrations, formats } from "./formats.ts";
import { type UnpackedRelease, unpack, VersionProcess } from "./version-process.ts";

const sources = new URL("../../../src/", import.meta.url);
const releases = globSync("*.tgz", { cwd: import.meta.dirname });
const cases = releases.flatMap((file) => [
  { file, stores: "Redis" as const },
  { file, stores: "PostgreSQL" as const },
]);

it("keeps a release", () => {
  expect(releases).toContain("portico-0.1.0.tgz");
});

describe.each(cases)("$file beside the sources, with stores in $stores", ({ file, stores }) => {
  let release: UnpackedRelease;
  let place: Place;
  let old: VersionProcess;
  let current: VersionProcess;
  const prefix = newPrefix();
  beforeAll(async () => {
    place = await migratedPlace("PostgreSQL");
    await addBooks(place);
    release = unpack(file);
    [old, current] = (await Promise.all(
      [release.entryPoints, sources].map((version) =>
        VersionProcess.start(version, { database: place.url, prefix, stores }),
      ),
    )) as [VersionProcess, VersionProcess];
  });
  afterAll(async () => {
    await Promise.all([old?.close(), current?.close()]);
    await place?.remove();
    await removeKeys(prefix);
    release?.remove();
  });

  describe.each([
    ["the release", "the sources", () => [old, current] as const],
    ["the sources", "the release", () => [current, old] as const],
  ])("from %s to %s", (from, _to, processes) => {
    const name = from.replaceAll(" ", "-");

    it.each(formats)("$title", async ({ check }) => {
      const [here, there] = processes();
      await expect(check(here, there, name)).resolves.toBeUndefined();
    });
  });
});

describe.each(releases)("the tables of %s and of the sources", (file) => {
  const prefix = newPrefix();
  it.each(["the release", "the sources"])("are used by both if %s made them first", async (first) => {
    const place = await newPlace("PostgreSQL");
    const release = unpack(file);
    const versions = [release.entryPoints, sources];
    const [here, there] = (first === "the release" ? versions : versions.toReversed()) as [URL, URL];
    const start = (version: URL) => () =>
      VersionProcess.start(version, { database: place.url, prefix, stores: "PostgreSQL", migrates: true });
    try {
      await expect(checkMigrations(start(here), start(there))).resolves.toBeUndefined();
    } finally {
      await place.remove();
      release.remove();
    }
  });
});
