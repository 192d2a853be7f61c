import { type Loader, loader } from "portico/graphql";
import { database } from "./database.ts";
import type { CommentRow, IssueRow, LabelRow, OrganisationRow, PersonRow, ProjectRow } from "./tables.ts";

type Keyed = "organisations" | "people" | "projects" | "issues" | "comments" | "labels";

/** Loads rows by id, whichever tenant they belong to. */
function byId<Row extends { readonly id: string }>(table: Keyed): Loader<string, Row | null> {
  return loader(async (ids: readonly string[]) => {
    const rows = (await database
      .current()
      .selectFrom(table)
      .selectAll()
      .where("id", "in", ids as string[])
      .execute()) as unknown as readonly Row[];
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id) ?? null);
  });
}
export const organisationById: Loader<string, OrganisationRow | null> = byId("organisations");
export const personById: Loader<string, PersonRow | null> = byId("people");
export const projectById: Loader<string, ProjectRow | null> = byId("projects");
export const issueById: Loader<string, IssueRow | null> = byId("issues");
export const commentById: Loader<string, CommentRow | null> = byId("comments");
export const labelById: Loader<string, LabelRow | null> = byId("labels");

/** The organisations that a person belongs to. */
export const organisationsOfPerson: Loader<string, readonly string[]> = loader(async (ids: readonly string[]) => {
  const rows = await database.current().selectFrom("memberships").selectAll().where("person_id", "in", ids).execute();
  const found = Map.groupBy(rows, ({ person_id }) => person_id);
  return ids.map((id) => (found.get(id) ?? []).map(({ organisation_id }) => organisation_id));
});

/** The people in an organisation. */
export const membersOf: Loader<string, readonly string[]> = loader(async (ids: readonly string[]) => {
  const rows = await database
    .current()
    .selectFrom("memberships")
    .selectAll()
    .where("organisation_id", "in", ids)
    .execute();
  const found = Map.groupBy(rows, ({ organisation_id }) => organisation_id);
  return ids.map((id) => (found.get(id) ?? []).map(({ person_id }) => person_id));
});

/** The organisation of an issue, by way of its project. */
export const organisationOfIssue: Loader<string, string | null> = loader(async (ids: readonly string[]) => {
  const rows = await database
    .current()
    .selectFrom("issues")
    .innerJoin("projects", "projects.id", "issues.project_id")
    .select(["issues.id", "projects.organisation_id"])
    .where("issues.id", "in", ids)
    .execute();
  const found = new Map(rows.map(({ id, organisation_id }) => [id, organisation_id]));
  return ids.map((id) => found.get(id) ?? null);
});

/** The labels of an issue, also those of other tenants. */
export const labelsOfIssue: Loader<string, readonly LabelRow[]> = loader(async (ids: readonly string[]) => {
  const rows = await database
    .current()
    .selectFrom("issue_labels")
    .innerJoin("labels", "labels.id", "issue_labels.label_id")
    .selectAll("labels")
    .select("issue_labels.issue_id")
    .where("issue_labels.issue_id", "in", ids)
    .orderBy("labels.id")
    .execute();
  const found = Map.groupBy(rows, ({ issue_id }) => issue_id);
  return ids.map((id) => found.get(id) ?? []);
});

/** The comments of an issue. */
export const commentsOfIssue: Loader<string, readonly CommentRow[]> = loader(async (ids: readonly string[]) => {
  const rows = await database
    .current()
    .selectFrom("comments")
    .selectAll()
    .where("issue_id", "in", ids)
    .orderBy("id")
    .execute();
  const found = Map.groupBy(rows, ({ issue_id }) => issue_id);
  return ids.map((id) => found.get(id) ?? []);
});
