import { createHash } from "node:crypto";
import { database } from "./database.ts";
import type { Tenant } from "./marks.ts";

/** The rows of one tenant, or of no tenant (N), as text by table and id. */
export type Snapshot = ReadonlyMap<string, string>;

/** Reads all rows that belong to a tenant by their relations, not by their ids. */
export async function snapshot(tenant: Tenant): Promise<Snapshot> {
  const [organisations, people, memberships, projects, issues, comments, labels, links] = await Promise.all([
    database.selectFrom("organisations").selectAll().execute(),
    database.selectFrom("people").selectAll().execute(),
    database.selectFrom("memberships").selectAll().execute(),
    database.selectFrom("projects").selectAll().execute(),
    database.selectFrom("issues").selectAll().execute(),
    database.selectFrom("comments").selectAll().execute(),
    database.selectFrom("labels").selectAll().execute(),
    database.selectFrom("issue_labels").selectAll().execute(),
  ]);
  const ofOrganisation = (id: string | null | undefined): boolean => (id?.[0] ?? "N") === tenant;
  const organisationOf = new Map(projects.map((row) => [row.id, row.organisation_id]));
  const projectOf = new Map(issues.map((row) => [row.id, row.project_id]));
  const ofProject = (id: string | null | undefined): boolean => ofOrganisation(organisationOf.get(id ?? ""));
  const ofIssue = (id: string | null): boolean => ofProject(projectOf.get(id ?? ""));
  const kept: readonly (readonly [string, readonly object[]])[] = [
    ["organisation", organisations.filter(({ id }) => ofOrganisation(id))],
    ["person", people.filter(({ id }) => ofOrganisation(id))],
    ["membership", memberships.filter(({ organisation_id }) => ofOrganisation(organisation_id))],
    ["project", projects.filter(({ id }) => ofProject(id))],
    ["issue", issues.filter(({ id }) => ofIssue(id))],
    ["comment", comments.filter(({ issue_id }) => ofIssue(issue_id))],
    ["label", labels.filter(({ organisation_id }) => ofOrganisation(organisation_id))],
    ["link", links.filter(({ issue_id }) => ofIssue(issue_id))],
  ];
  return new Map(
    kept.flatMap(([table, rows]) => rows.map((row): [string, string] => [keyOf(table, row), JSON.stringify(row)])),
  );
}

const keyOf = (table: string, row: object): string =>
  "id" in row ? `${table} ${String(row.id)}` : `${table} ${Object.values(row).join(" ")}`;

/** The number of rows of a table. */
export const countOf = (rows: Snapshot, table: string): number =>
  [...rows.keys()].filter((key) => key.startsWith(`${table} `)).length;

export const hashOf = (rows: Snapshot): string =>
  createHash("sha256")
    .update(
      [...rows]
        .map(([key, row]) => `${key} ${row}`)
        .toSorted()
        .join("\n"),
    )
    .digest("hex");

/** The rows that differ, for the message of a failure. */
export function differences(before: Snapshot, now: Snapshot): readonly string[] {
  const keys = new Set([...before.keys(), ...now.keys()]);
  return [...keys]
    .filter((key) => before.get(key) !== now.get(key))
    .map((key) => `${before.get(key) ?? "nothing"} is now ${now.get(key) ?? "nothing"}`);
}
