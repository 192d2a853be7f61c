import { expect, it, vi } from "vitest";
import { newPlace } from "./databases.ts";

it("names the package pg-cursor if it is missing, and only stream() needs it", async () => {
  vi.doMock("pg-cursor", () => {
    throw new Error("Cannot find package 'pg-cursor'");
  });
  const place = await newPlace("PostgreSQL");
  const { openDatabase: open } = await import("portico/sql");
  const database = open(place.url, { poolSize: 2 });

  await database.ping();
  const reading = database.selectFrom("users").selectAll().stream().next();
  await expect(reading).rejects.toThrow(
    'openDatabase requires the package "pg-cursor" for stream() on PostgreSQL: run npm install pg-cursor',
  );

  await database.destroy();
  await place.remove();
});
