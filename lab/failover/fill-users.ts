import { PasswordHasher } from "../../src/auth/index.ts";
import { migrate, openDatabase, userModel } from "../../src/sql/index.ts";

/** The users of a filled database. */
export const NAMES: readonly string[] = Array.from({ length: 40 }, (_, n) => `user-${n}`);
export const PASSWORD = "correct horse battery staple";

/** Migrates a database and creates the users, who all have the same password. */
export async function fillUsers(url: string): Promise<void> {
  const database = openDatabase(url);
  await migrate(database, "up");
  const passwordHash = await new PasswordHasher().hash(PASSWORD);
  const { objects } = userModel(database);
  for (const username of NAMES) await objects.importUser({ email: `${username}@example.org`, username, passwordHash });
  await database.destroy();
}
