import { loader } from "portico/graphql";
import { database } from "../database.ts";

export const userById = loader(async (ids: readonly number[]) => {
  const rows = await database.current().selectFrom("users").selectAll().where("id", "in", ids).execute();
  return ids.map((id) => rows.find((row) => row.id === id) ?? new Error(`User ${id} not found`));
});
