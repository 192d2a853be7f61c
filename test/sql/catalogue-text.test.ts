import { describe, expect, it } from "vitest";
import { filesBelow, read } from "../../scripts/package/repository.ts";

// Columns of PostgreSQL's catalogue that have the types name, "char" or regclass. Prisma 6 can't read these types.
const UNREADABLE =
  /(?:\b\w+\.(?:attname|relname|nspname|conname|proname|polname|typname|tgname|datname|confdeltype|contype|relkind|polcmd)|to_regclass\([^)]*\)|current_schema\(\)|current_user)\s+as\s/;

const unreadable = (text: string): readonly string[] => text.split("\n").filter((line) => UNREADABLE.test(line));

describe("the statements that read the catalogue of PostgreSQL", () => {
  it("cast every column that only some drivers can read to text", async () => {
    const files = await filesBelow("src/sql", ".ts");

    const found = files.flatMap((file) => unreadable(read(file)).map((line) => `${file}: ${line.trim()}`));

    expect(found).toEqual([]);
  });

  it.each([
    "select a.attname as name from pg_catalog.pg_attribute a",
    'select c.relkind as "kind", c.oid::text as id from pg_catalog.pg_class c',
    "select to_regclass($1) as found",
  ])("are found without the cast: %s", (statement) => {
    expect(unreadable(statement)).toHaveLength(1);
    expect(unreadable(statement.replace(/(\.\w+|\)) as/, "$1::text as"))).toEqual([]);
  });
});
