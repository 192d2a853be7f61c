import { loader } from "portico/graphql";
import { database } from "../database.ts";

export const projectById = loader(async (ids: readonly number[]) => {
  const rows = await database.current().selectFrom("projects").selectAll().where("id", "in", ids).execute();
  return ids.map((id) => rows.find((row) => row.id === id) ?? new Error(`Project ${id} not found`));
});

/** The ids of the projects that a user is a member of. */
export const projectsOfUser = loader(async (users: readonly number[]) => {
  const rows = await database.current().selectFrom("members").selectAll().where("userId", "in", users).execute();
  return users.map((user) => new Set(rows.filter((row) => row.userId === user).map((row) => row.projectId)));
});
