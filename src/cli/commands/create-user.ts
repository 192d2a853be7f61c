import { type Result, sentence } from "../output/result.ts";
import { findUser } from "../project/find-user.ts";
import type { Call } from "../runner.ts";
import { newPassword } from "./new-password.ts";
import { userData } from "./user-data.ts";

interface NewUser {
  readonly email: string;
  readonly username: string;
  readonly permission: readonly string[];
  readonly role: readonly string[];
}

/** `portico user create` */
export async function createUser({ project, options, askPassword }: Call<NewUser>): Promise<Result> {
  const { email, username, permission, role } = options;
  const { objects } = await project.users();
  const password = await newPassword(askPassword, [email, username]);
  const trx = await objects.database.begin();
  try {
    const users = objects.within(trx);
    const { id } = await users.createUser({ email, username, password });
    await users.grant({ identity: id }, { permissions: permission, roles: role });
    await trx.end("success");
    const user = await findUser(project, email);
    return sentence(`created ${user.username} (${id})`, userData(user));
  } catch (error) {
    await trx.end("failure");
    throw error;
  }
}
