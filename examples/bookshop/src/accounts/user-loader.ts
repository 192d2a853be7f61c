import { type Loader, loader } from "portico/graphql";
import { database } from "../database.ts";

/** The names of users: all that others get to see of them. */
export const nameOfUser: Loader<string, string> = loader(async (ids: readonly string[]) => {
  const rows = await database.current().selectFrom("users").select(["id", "username"]).where("id", "in", ids).execute();
  const names = new Map(rows.map(({ id, username }) => [id, username]));
  return ids.map((id) => names.get(id) ?? new Error(`there is no user ${id}`));
});
