import type { Command } from "commander";
import { CommandFailed, UsageError } from "../output/command-failed.ts";
import { type Result, sentence } from "../output/result.ts";
import { tableLines } from "../output/table-lines.ts";
import { apiKeysOf } from "../project/api-keys-of.ts";
import { findUser } from "../project/find-user.ts";
import { collect } from "./collect.ts";
import type { Call, RunCommand } from "./runner.ts";

interface NewKey {
  readonly name?: string;
  readonly permission: readonly string[];
  readonly days?: string;
}

/** `portico keys` */
export function keysCommands(program: Command, run: RunCommand): void {
  const group = program.command("keys").description("Manages the API keys of users.");
  group.command("list").description("Lists the API keys of a user.").argument("<who>", WHO).action(run(listKeys));
  group
    .command("create")
    .description("Creates an API key and shows it once.")
    .argument("<who>", WHO)
    .option("--name <text>", "the purpose of the key")
    .option("--permission <name>", "a permission of the key; may be repeated (default: all of its owner)", collect, [])
    .option("--days <number>", 'when it expires, or "never"')
    .action(run(createKey));
  group
    .command("revoke")
    .description("Revokes an API key.")
    .argument("<who>", WHO)
    .argument("<id>", "the id of the key")
    .action(run(revokeKey));
}

const WHO = "the owner: an email address, a username or an id";

async function listKeys({ project, width, words: [who = ""] }: Call<object>): Promise<Result> {
  const found = await (await apiKeysOf(project)).list(await findUser(project, who));
  const keys = found.map(({ id, name, lastFour, permissions, createdAt, expiresAt, lastUsedAt }) => {
    return { id, name, lastFour, permissions, createdAt, expiresAt, lastUsedAt };
  });
  const rows = keys.map(({ lastFour, expiresAt, lastUsedAt, permissions, ...key }) => {
    const shown = { key: `...${lastFour}`, expires: expiresAt ?? "never", used: lastUsedAt ?? "never" };
    return { ...key, ...shown, permissions: permissions ?? "all of the owner" };
  });
  const columns = {
    id: "id",
    key: "key",
    expires: "expires",
    used: "last used",
    permissions: "permissions",
    name: "name",
  };
  return { data: { keys }, lines: rows.length === 0 ? ["no keys"] : tableLines(rows, columns, width) };
}

async function createKey({ project, options, words: [who = ""] }: Call<NewKey>): Promise<Result> {
  const { permission, name, days } = options;
  const expiry = days === undefined ? {} : { expiresInSeconds: secondsOf(days) };
  const keys = await apiKeysOf(project);
  const user = await findUser(project, who);
  const { id, key, expiresAt } = await keys.create(user, {
    ...(name === undefined ? {} : { name }),
    // Without --permission, the key has all permissions of its owner.
    ...(permission.length === 0 ? {} : { permissions: permission }),
    ...expiry,
  });
  const end = expiresAt === null ? "never expires" : `expires on ${expiresAt.toISOString().slice(0, 10)}`;
  return sentence(key, { id, key, expiresAt }, [`This is the only time the key is shown. It ${end}.`]);
}

async function revokeKey({ project, words: [who = "", id = ""] }: Call<object>): Promise<Result> {
  const keys = await apiKeysOf(project);
  const user = await findUser(project, who);
  if (!(await keys.revoke(user, id.replace(/^pk_/, ""))))
    throw new CommandFailed(`${user.username} has no key ${JSON.stringify(id)}`);
  return sentence(`revoked ${id}`, { revoked: id });
}

function secondsOf(days: string): number | "never" {
  if (days === "never") return days;
  const count = Number(days);
  if (!Number.isInteger(count) || count < 1)
    throw new UsageError('--days must be a whole number of at least 1, or "never"');
  return count * 86_400;
}
