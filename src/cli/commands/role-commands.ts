import type { Command } from "commander";
import { CommandFailed, UsageError } from "../output/command-failed.ts";
import { countText } from "../output/count-text.ts";
import { type Result, sentence } from "../output/result.ts";
import { tableLines } from "../output/table-lines.ts";
import { collect } from "./collect.ts";
import { type Confirmable, confirmable, confirmed } from "./confirmed.ts";
import type { Call, RunCommand } from "./runner.ts";

interface RoleFlags {
  readonly permission: readonly string[];
}

/** `portico role` */
export function roleCommands(program: Command, run: RunCommand): void {
  const group = program.command("role").description("Manages roles, which grant their permissions to users.");
  group.command("list").description("Lists the roles with their permissions.").action(run(listRoles));
  group
    .command("define")
    .description("Defines a role, or replaces the permissions of an existing one.")
    .argument("<name>", "the name of the role")
    .option("--permission <name>", "a permission of the role; may be repeated", collect, [])
    .action(run(defineRole));
  confirmable(group.command("delete").description("Deletes a role and takes it from all users."))
    .argument("<name>", "the name of the role")
    .action(run(deleteRole));
}

async function listRoles({ project, width }: Call<object>): Promise<Result> {
  const roles = await (await project.users()).objects.roles();
  const columns = { name: "role", users: "users", permissions: "permissions" };
  return { data: { roles }, lines: roles.length === 0 ? ["no roles"] : tableLines(roles, columns, width) };
}

async function defineRole({ project, options, words: [name = ""] }: Call<RoleFlags>): Promise<Result> {
  const { objects } = await project.users();
  if (options.permission.length === 0) throw new UsageError("pass at least one --permission");
  const before = (await objects.roles()).find((role) => role.name === name);
  await objects.defineRole(name, options.permission);
  const after = (await objects.roles()).find((role) => role.name === name);
  const text = `${before === undefined ? "defined" : "changed"} ${name}: ${after?.permissions.join(", ")}`;
  const hints = before === undefined ? [] : [`Before, it had: ${before.permissions.join(", ") || "no permissions"}`];
  return sentence(text, after, hints);
}

async function deleteRole(call: Call<Confirmable>): Promise<Result> {
  const { objects } = await call.project.users();
  const [name = ""] = call.words;
  const role = (await objects.roles()).find((found) => found.name === name);
  if (role === undefined) throw new CommandFailed(`role ${JSON.stringify(name)} not found`);
  await confirmed(call, `This deletes the role ${name} and takes it from ${countText(role.users, "user")}.`);
  await objects.deleteRole(name);
  return sentence(`deleted ${name}, which ${countText(role.users, "user")} had`, role);
}
