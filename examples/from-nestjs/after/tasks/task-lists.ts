import { CursorPagination } from "portico/pagination";
import { tableHandler } from "portico/sql";
import { database } from "../database.ts";

export const newestTasks = new CursorPagination({ order: [["createdAt", "desc"]], totals: "exact" });

export const taskList = () => tableHandler(database.current().selectFrom("tasks").selectAll());
