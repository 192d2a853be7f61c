import { type Loader, loader } from "portico/graphql";
import { database } from "../database.ts";

/** Usernames, which are all that other users can see. */
export const nameOfUser: Loader<string, string> = loader(async (ids: readonly string[]) => {
  const rows = await database.current().selectFrom("users").select(["id", "username"]).where("id", "in", ids).execute();
  const names = new Map(rows.map(({ id, username }) => [id, username]));
  return ids.map((id) => names.get(id) ?? new Error(`the user ${id} does not exist`));
});
