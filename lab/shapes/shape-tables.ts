import { sql } from "kysely";
import { createTable, type Engine, insertRows } from "../servers/engines.ts";

/** A row of the listed table. */
export interface Project {
  readonly id: number;
  readonly organisation_id: string | null;
  readonly name: string;
  readonly rank: number | null;
  readonly parent_id: number;
}
/** A row of the joined table, which has columns of the same names with other values. */
export interface Owner {
  readonly id: number;
  readonly project_id: number;
  readonly organisation_id: string | null;
  readonly name: string;
  readonly title: string;
}
/** A row of the related table, which has columns of the same names too. */
export interface Membership {
  readonly id: number;
  readonly user_id: string;
  readonly organisation_id: string | null;
}

/** Texts that differ for JavaScript, but not for every collation and type. */
export const organisations: readonly (string | null)[] = ["acme", "ACME", "acme ", "äcme", "bolt", "01", "1", null];
export const users = ["ann", "ANN", "bob", "eve"] as const;
export const titles = ["chief", "clerk"] as const;
export const parents = [1, 2, 3] as const;

const at = <V>(values: readonly V[], index: number): V => values[index % values.length] as V;

export const projects: readonly Project[] = Array.from({ length: 21 }, (_, index) => ({
  id: index + 1,
  organisation_id: at(organisations, index * 3 + (index % 5)),
  name: `p${at(["a", "b", "ab", "c"], index)}${index % 4}`,
  rank: index % 6 === 5 ? null : (index * 7) % 5,
  parent_id: at(parents, index),
}));
/** Every third project has no owner, and none has two. */
export const owners: readonly Owner[] = projects
  .filter(({ id }) => id % 3 !== 0)
  .map(({ id }) => ({
    id: id + 100,
    project_id: id,
    organisation_id: at(organisations, id * 5 + 1),
    name: `o${id % 3}`,
    title: at(titles, id),
  }));
export const memberships: readonly Membership[] = [
  ["ann", "acme"],
  ["ann", "01"],
  ["ANN", "ACME"],
  ["ANN", null],
  ["bob", "bolt"],
  ["bob", "acme "],
  ["bob", null],
].map(([user_id, organisation_id], index) => ({
  id: index + 1,
  user_id: user_id as string,
  organisation_id: organisation_id as string | null,
}));

export const projectColumns = {
  id: "key",
  organisation_id: "text?",
  name: "text",
  rank: "int?",
  parent_id: "int",
} as const;
export const ownerColumns = {
  id: "key",
  project_id: "int",
  organisation_id: "text?",
  name: "text",
  title: "text",
} as const;

/** Indexes that begin with the organisation, from which PostgreSQL merges the lists of a rule. */
const MERGED = ["organisation_id, id", "organisation_id, rank, id", "organisation_id, rank desc, id"];

/** @param isLoose whether MariaDB compares text by its default collation, which ignores case, accents and spaces at the end */
export async function createShapeTables(engine: Engine, isLoose: boolean): Promise<void> {
  if (isLoose)
    await sql
      .raw(`alter database ${engine.address} character set utf8mb4 collate utf8mb4_general_ci`)
      .execute(engine.database);
  await createTable(engine, "projects", { ...projectColumns, rank: "int?" }, MERGED);
  await createTable(engine, "owners", ownerColumns);
  await createTable(engine, "memberships", { id: "key", user_id: "text", organisation_id: "text?" });
  await insertRows(engine, "projects", projects);
  await insertRows(engine, "owners", owners);
  await insertRows(engine, "memberships", memberships);
  // Without statistics, no list is merged.
  if (engine.name === "PostgreSQL") await sql`analyze projects`.execute(engine.database);
}
