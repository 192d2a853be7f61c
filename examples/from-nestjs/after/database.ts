import { channel } from "node:diagnostics_channel";
import type { Dependency } from "portico";
import { type Database, type Migration, openDatabase, type Transaction, transaction } from "portico/sql";
import type { MemberTable, ProjectTable } from "./projects/project-table.ts";
import { settings } from "./settings.ts";
import type { TaskTable } from "./tasks/task-table.ts";
import type { UserTable } from "./users/user-table.ts";

interface Tables {
  users: UserTable;
  projects: ProjectTable;
  members: MemberTable;
  tasks: TaskTable;
}

/** Emits every statement, so that they can be counted. */
const statements = channel("tracker.statements");

export const database: Database<Tables> = openDatabase<Tables>(settings.databaseUrl, {
  onStatement: ({ sql }) => statements.publish(sql),
});

/** A transaction for one request or one mutation, which is committed before the response is sent. */
export const inTransaction: Dependency<Transaction<Tables>> = transaction(database);

/** The indexes for pages by cursor. The tables stay as they are. */
export const migrations: readonly Migration[] = [
  {
    name: "0001_indexes_of_lists",
    async up(database) {
      await database.schema.createIndex("projects_newest").on("projects").columns(["createdAt", "id"]).execute();
      await database.schema.createIndex("tasks_newest").on("tasks").columns(["createdAt", "id"]).execute();
      await database.schema
        .createIndex("tasks_of_project")
        .on("tasks")
        .columns(["projectId", "createdAt", "id"])
        .execute();
    },
    async down(database) {
      for (const index of ["projects_newest", "tasks_newest", "tasks_of_project"])
        await database.schema.dropIndex(index).execute();
    },
  },
];
