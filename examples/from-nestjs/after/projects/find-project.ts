import { database } from "../database.ts";

export const findProject = (id: number) =>
  database.current().selectFrom("projects").selectAll().where("id", "=", id).executeTakeFirst();
