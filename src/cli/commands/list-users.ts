import { UsageError } from "../output/command-failed.ts";
import type { Result } from "../output/result.ts";
import { tableLines } from "../output/table-lines.ts";
import type { Call } from "./runner.ts";
import { userData } from "./user-data.ts";

interface ListFlags {
  readonly search?: string;
  readonly role?: string;
  readonly disabled?: boolean;
  readonly limit: string;
  readonly after?: string;
}

const MAX = 1000;

/** `portico user list` */
export async function listUsers({ project, options, width }: Call<ListFlags>): Promise<Result> {
  const { search, role, after, disabled } = options;
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX)
    throw new UsageError(`--limit must be a whole number from 1 to ${MAX}`);
  const { objects } = await project.users();
  // One more than asked for shows whether there are more.
  const found = await objects.list({ search, role, after, isDisabled: disabled, limit: limit + 1 });
  const users = found.slice(0, limit).map(userData);
  const next = found.length > limit ? (users.at(-1)?.username ?? null) : null;
  const rows = users.map(({ isDisabled, ...user }) => ({ ...user, state: isDisabled ? "disabled" : "enabled" }));
  const columns = {
    username: "username",
    email: "email address",
    state: "state",
    roles: "roles",
    createdAt: "created",
    id: "id",
  };
  return {
    data: { users, next },
    lines: rows.length === 0 ? ["no users"] : tableLines(rows, columns, width),
    hints:
      next === null || options.json === true
        ? []
        : [`There are more users. Add --after ${shellWord(next)} for the next page.`],
  };
}

/** A name in quotes if a shell would split or expand it. */
function shellWord(text: string): string {
  return /^[\w@.+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
