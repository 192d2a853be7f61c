import { CursorPagination, LimitOffsetPagination } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { database } from "../database.ts";

/** Pages by offset, for the clients of the old REST route. */
export const byOffset = new LimitOffsetPagination({ defaultLimit: 20, maxLimit: 100, overMax: "reject" });

/** Pages by cursor, newest first. */
export const newestFirst = new CursorPagination({ order: [["createdAt", "desc"]], totals: "exact" });

export const projectList = () => tableHandler(database.selectFrom("projects").selectAll());

export const orderedProjects = () =>
  tableHandler(database.selectFrom("projects").selectAll().orderBy("createdAt", "desc").orderBy("id", "desc"));
