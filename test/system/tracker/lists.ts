import { CursorPagination } from "portico/pagination";
import { type TableHandler, tableHandler } from "portico/sql";
import { database } from "./database.ts";
import type { CommentRow, IssueRow, PersonRow, ProjectRow } from "./tables.ts";

const sizes = { defaultPageSize: 4, maxPageSize: 30, totals: "exact" } as const;
export const byName: CursorPagination<"name" | "id"> = new CursorPagination({
  order: [["name", "asc"]],
  sortable: ["name", "id"],
  ...sizes,
});
export const newest: CursorPagination<"created_at" | "id"> = new CursorPagination({
  order: [["created_at", "desc"]],
  sortable: [{ column: "created_at", public: true }, "id"],
  ...sizes,
});
export const byTitle: CursorPagination<"title" | "created_at" | "estimate" | "id"> = new CursorPagination({
  order: [["title", "asc"]],
  sortable: ["title", "created_at", "estimate", "id"],
  ...sizes,
});

type Equal<Row> = Partial<Record<keyof Row, string>>;

/** The rows of a table with these values, whichever tenant they belong to. */
function rows(table: "projects" | "issues" | "comments" | "people", equal: Readonly<Record<string, string>>): any {
  let query = database.current().selectFrom(table).selectAll() as any;
  for (const [column, value] of Object.entries(equal)) query = query.where(column, "=", value);
  return query;
}
export const projects = (equal: Equal<ProjectRow> = {}): TableHandler<ProjectRow> =>
  tableHandler(rows("projects", equal));
export const issues = (equal: Equal<IssueRow> = {}): TableHandler<IssueRow> => tableHandler(rows("issues", equal));
export const comments = (equal: Equal<CommentRow> = {}): TableHandler<CommentRow> =>
  tableHandler(rows("comments", equal));
export const people = (): TableHandler<PersonRow> => tableHandler(rows("people", {}));

/** The same rows as a plain list, in an order that mixes the tenants. */
export const projectList = (equal: Equal<ProjectRow> = {}, limit = 30): Promise<ProjectRow[]> =>
  rows("projects", equal).orderBy("name", "desc").limit(limit).execute();
export const issueList = (equal: Equal<IssueRow> = {}, limit = 40): Promise<IssueRow[]> =>
  rows("issues", equal)
    .orderBy((eb: any) => eb.fn("md5", ["id"]))
    .limit(limit)
    .execute();
export const commentList = (limit = 40): Promise<CommentRow[]> =>
  rows("comments", {})
    .orderBy((eb: any) => eb.fn("md5", ["id"]))
    .limit(limit)
    .execute();
export const personList = (limit = 30): Promise<PersonRow[]> =>
  rows("people", {})
    .orderBy((eb: any) => eb.fn("md5", ["id"]))
    .limit(limit)
    .execute();
