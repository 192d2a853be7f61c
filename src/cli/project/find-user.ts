import type { UserTable } from "../../sql/database/portico-tables.ts";
import type { UserClass, UserRow } from "../../sql/users/user-model.ts";
import { CommandFailed } from "../output/command-failed.ts";
import type { Project } from "./project.ts";

/** Finds the user by email address, username or id. */
export async function findUser(project: Project, text: string): Promise<UserRow<UserTable>> {
  const { objects } = await project.users();
  const user = text.includes("@") ? await objects.get({ email: text }) : await byNameOrId(objects, text);
  if (user === null) throw new CommandFailed(`user ${JSON.stringify(text)} not found`);
  return user;
}

/** Rejects an ambiguous text: users choose their names, and a name may equal the id of another user. */
async function byNameOrId(objects: UserClass<UserTable>["objects"], text: string): Promise<UserRow<UserTable> | null> {
  const [named, known] = [await objects.get({ username: text }), await objects.get({ id: text })];
  if (named !== null && known !== null && named.id !== known.id)
    throw new CommandFailed(
      `${JSON.stringify(text)} is the name of ${named.email} and the id of ${known.email}: pass the email address instead`,
    );
  return named ?? known;
}
