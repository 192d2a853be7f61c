import type { Command } from "commander";
import { UsageError } from "../output/command-failed.ts";
import { type Result, sentence } from "../output/result.ts";
import { fieldLines } from "../output/table-lines.ts";
import { apiKeysOf } from "../project/api-keys-of.ts";
import { findUser } from "../project/find-user.ts";
import { collect } from "./collect.ts";
import { type Confirmable, confirmable } from "./confirmed.ts";
import { listUsers } from "./list-users.ts";
import { newPassword } from "./new-password.ts";
import type { Call, RunCommand } from "./runner.ts";
import { userData } from "./user-data.ts";
import { endSessions, userSessions } from "./user-sessions.ts";

interface GrantFlags {
  readonly permission: readonly string[];
  readonly role: readonly string[];
}

/** `portico user` */
export function userCommands(program: Command, run: RunCommand): void {
  const group = program.command("user").description("Manages users, their permissions and their sessions.");
  group
    .command("list")
    .description("Lists users by name.")
    .option("--search <text>", "only users whose name or address contains this text")
    .option("--role <name>", "only users with this role")
    .option("--disabled", "only disabled users")
    .option("--limit <number>", "the maximum number of users, up to 1000", "50")
    .option("--after <username>", "begin after this user")
    .action(run(listUsers));
  group.command("show").description("Shows a user.").argument("<who>", WHO).action(run(showUser));
  group
    .command("create")
    .description("Creates a user. The password is prompted for, or read from the first line of standard input.")
    .requiredOption("--email <address>", "the email address")
    .requiredOption("--username <name>", "the username")
    .option("--permission <name>", "a permission; may be repeated", collect, [])
    .option("--role <name>", "a role; may be repeated", collect, [])
    .action(run(createUser));
  group
    .command("password")
    .description(
      "Replaces the password of a user, and revokes their sessions, tokens, API keys and links to reset the password. " +
        "The password is prompted for, or read from the first line of standard input.",
    )
    .argument("<who>", WHO)
    .option("--keep-keys", "do not revoke API keys and links, which are in the stores of the application")
    .action(run(setPassword));
  confirmable(
    group
      .command("reset-factors")
      .description(
        "Removes all second factors of a user who has lost them, and revokes their sessions and tokens. The user gets an email.",
      ),
  )
    .argument("<who>", WHO)
    .action(run<Confirmable>(async (call) => (await import("./reset-factors.ts")).resetFactors(call)));
  for (const [name, description] of [
    ["grant", "Grants permissions and roles to a user."],
    ["revoke", "Revokes permissions and roles of a user."],
  ] as const)
    group
      .command(name)
      .description(description)
      .argument("<who>", WHO)
      .option("--permission <name>", "a permission; may be repeated", collect, [])
      .option("--role <name>", "a role; may be repeated", collect, [])
      .action(run<GrantFlags>((call) => changeGrants(call, name)));
  for (const [name, alias, description] of [
    ["disable", "lock", "Disables a user, who is signed out and can no longer sign in."],
    ["enable", "unlock", "Enables a user, who can sign in again with the same password."],
  ] as const)
    group
      .command(name)
      .alias(alias)
      .description(description)
      .argument("<who>", WHO)
      .action(run((call) => turn(call, name)));
  group
    .command("sessions")
    .description("Lists or revokes the sessions of a user.")
    .argument("<who>", WHO)
    .option("--revoke <id>", "revoke this session")
    .option("--revoke-all", "revoke all sessions")
    .action(run(userSessions));
}

const WHO = "an email address, a username or an id";

async function showUser({ project, words: [who = ""] }: Call<object>): Promise<Result> {
  const user = userData(await findUser(project, who));
  const columns = {
    username: "username",
    email: "email address",
    isVerified: "verified",
    isDisabled: "disabled",
    roles: "roles",
    permissions: "permissions",
    createdAt: "created",
    id: "id",
  };
  return { data: user, lines: fieldLines(user, columns) };
}

async function changeGrants(
  { project, options: { permission, role }, words: [who = ""] }: Call<GrantFlags>,
  method: "grant" | "revoke",
): Promise<Result> {
  if (permission.length + role.length === 0) throw new UsageError("pass --permission or --role");
  const { objects } = await project.users();
  const user = await findUser(project, who);
  await objects[method](user, { permissions: permission, roles: role });
  const changed = await findUser(project, user.email);
  const names = [...permission, ...role.map((name) => `the role ${name}`)].join(", ");
  const text = method === "grant" ? `granted ${names} to ${user.username}` : `revoked ${names} of ${user.username}`;
  const kept = method === "revoke" ? changed.permissions.filter((name) => permission.includes(name)) : [];
  return sentence(
    text,
    userData(changed),
    kept.map((name) => `${user.username} still has ${name} through a role.`),
  );
}

async function turn({ project, words: [who = ""] }: Call<object>, method: "disable" | "enable"): Promise<Result> {
  const user = await findUser(project, who);
  await (await project.users()).objects[method](user);
  return sentence(`${method}d ${user.username} (${user.id})`, userData(await findUser(project, user.email)));
}

interface NewUser {
  readonly email: string;
  readonly username: string;
  readonly permission: readonly string[];
  readonly role: readonly string[];
}

/** `portico user create` */
async function createUser({ project, options, askPassword }: Call<NewUser>): Promise<Result> {
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

interface PasswordFlags {
  readonly keepKeys?: boolean;
}

/** `portico user password` */
async function setPassword({ project, options, askPassword, words }: Call<PasswordFlags>): Promise<Result> {
  const { keepKeys = false } = options;
  // Before anything is changed: without the stores, keys and links would stay valid.
  const stores = keepKeys ? null : await project.stores();
  const user = await findUser(project, words[0] ?? "");
  const { objects } = await project.users();
  await objects.setPassword(user, await newPassword(askPassword, [user.email, user.username]));
  if (stores !== null) {
    const { emailTokens, resetTokens } = await import("../../auth/accounts/one-time-tokens.ts");
    await endSessions(stores, user.id);
    await resetTokens(stores.durable).revoke(user.id);
    await emailTokens(stores.durable).revoke(user.id);
    await (await apiKeysOf(project)).revokeAll(user);
  }
  const text = `changed the password of ${user.username}, who has to sign in again`;
  const hints = keepKeys ? ["API keys and links to reset the password are still valid."] : [];
  return sentence(text, userData(await findUser(project, user.email)), hints);
}
