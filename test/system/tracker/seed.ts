import type { Database } from "portico/sql";
import { marked, type Tenant } from "./marks.ts";
import type { IssueRow, Tables } from "./tables.ts";

/** The rows of each table that one tenant has. The numbers of two tenants are equal, so that their ids correspond. */
const COUNTS = { organisations: 2, people: 12, projects: 12, issues: 120, comments: 200, labels: 16 } as const;
type Kind = keyof typeof COUNTS;
const KINDS = Object.keys(COUNTS) as Kind[];

/** The number of the first row of each kind; the ids of all kinds come from one sequence. */
const START: Readonly<Record<Kind, number>> = {
  organisations: 100,
  people: 200,
  projects: 300,
  issues: 400,
  comments: 600,
  labels: 900,
};

/** The id of a tenant's row. */
export const idOf = (tenant: Tenant, kind: Kind, at: number): string =>
  marked(tenant, (START[kind] ?? 0) + (at % COUNTS[kind]));

/** All ids of a tenant, by table. */
export function idsOf(tenant: Tenant): Readonly<Record<Kind, readonly string[]>> {
  return Object.fromEntries(
    KINDS.map((kind) => [kind, Array.from({ length: COUNTS[kind] }, (_, at) => idOf(tenant, kind, at))]),
  ) as Record<Kind, string[]>;
}

/** Creates the rows of a tenant that do not exist. Some refer to rows of the tenant `other`, which a caller must not be able to follow. */
export async function seedTenant(database: Database<Tables>, tenant: Tenant, other: Tenant): Promise<void> {
  let next = 10_000;
  const text = (word: string, of = tenant): string => `${word} ${marked(of, next++)}`;
  const list = <T>(kind: Kind, row: (at: number) => T): T[] => Array.from({ length: COUNTS[kind] }, (_, at) => row(at));
  // Every nth row refers to the other tenant.
  const crossing = (kind: Kind, at: number, nth: number): string => idOf(at % nth === 0 ? other : tenant, kind, at + 1);
  // Rows of the tenant N belong to no organisation.
  const owner = (id: string): string | null => (tenant === "N" ? null : id);
  const created_at = (at: number): Date =>
    new Date(Date.UTC(tenant === "A" ? 2026 : 1999, at % 12, 1 + (at % 28), at % 24));
  const estimate = (at: number): number => (tenant === "A" ? at : 1_777_770_000 + at);

  if (tenant !== "N")
    await database
      .insertInto("organisations")
      .values(list("organisations", (at) => ({ id: idOf(tenant, "organisations", at), name: text("org") })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  await database
    .insertInto("people")
    .values(list("people", (at) => ({ id: idOf(tenant, "people", at), name: text("name"), email: text("mail") })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  if (tenant !== "N")
    await database
      .insertInto("memberships")
      .values(
        // Every other person belongs to both organisations.
        list("people", (at) =>
          (at % 2 === 0 ? [0, 1] : [at]).map((nth) => ({
            person_id: idOf(tenant, "people", at),
            organisation_id: idOf(tenant, "organisations", nth),
          })),
        ).flat(),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  await database
    .insertInto("projects")
    .values(
      list("projects", (at) => ({
        id: idOf(tenant, "projects", at),
        organisation_id: owner(idOf(tenant, "organisations", at)),
        name: text("project"),
        lead_id: crossing("people", at, 4),
        created_at: created_at(at),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await database
    .insertInto("issues")
    .values(
      list(
        "issues",
        (at): IssueRow => ({
          id: idOf(tenant, "issues", at),
          project_id: tenant === "N" && at % 2 === 0 ? null : idOf(tenant, "projects", at),
          title: text("title"),
          body: text("body"),
          estimate: estimate(at),
          assignee_id: crossing("people", at, 7),
          duplicate_of: at % 3 === 0 ? null : crossing("issues", at, 5),
          created_at: created_at(at),
        }),
      ),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await database
    .insertInto("comments")
    .values(
      list("comments", (at) => ({
        id: idOf(tenant, "comments", at),
        issue_id: tenant === "N" && at % 2 === 0 ? null : idOf(tenant, "issues", at),
        author_id: crossing("people", at, 6),
        text: text("comment"),
        files: JSON.stringify(
          at % 4 === 0
            ? [tenant, other].map((of) => ({
                file: text("file", of),
                url: text("url", of),
                issue_id: idOf(of, "issues", at),
              }))
            : [],
        ) as never,
        created_at: created_at(at),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await database
    .insertInto("labels")
    .values(
      list("labels", (at) => ({
        id: idOf(tenant, "labels", at),
        organisation_id: owner(idOf(tenant, "organisations", at)),
        name: text("label"),
        colour: text("colour"),
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await database
    .insertInto("issue_labels")
    .values(
      list("issues", (at) =>
        [crossing("labels", at, 3), idOf(tenant, "labels", at + 5)].map((label_id) => ({
          issue_id: idOf(tenant, "issues", at),
          label_id,
        })),
      ).flat(),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
