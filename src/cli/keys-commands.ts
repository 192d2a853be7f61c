import { APIKeys } from "../auth/api-keys/api-keys.ts";
import { type Call, type Command, CommandFailed, listValue, textValue } from "./command.ts";
import { findUser } from "./find-user.ts";

/** `portico keys ...` */
export const keysCommands: readonly Command[] = [
  {
    name: "keys create",
    usage: "<address, name or id> [--name <text>] [--permission <name>]... [--days <number> | --days never]",
    summary: "create an API key and show it once",
    words: 1,
    needsStores: true,
    options: {
      name: { type: "string" },
      permission: { type: "string", multiple: true },
      days: { type: "string" },
    },
    run: createKey,
  },
  {
    name: "keys list",
    usage: "<address, name or id>",
    summary: "list the API keys of a user",
    words: 1,
    needsStores: true,
    options: {},
    async run(call) {
      const user = await findUser(call, call.words[0]);
      const keys = await (await keysOf(call)).list(user);
      for (const { id, lastFour, name, expiresAt, lastUsedAt } of keys)
        call.say(`${id}  ...${lastFour}  expires ${day(expiresAt)}  last used ${day(lastUsedAt)}  ${name}`.trimEnd());
      if (keys.length === 0) call.say("no keys");
    },
  },
  {
    name: "keys revoke",
    usage: "<address, name or id> <key id>",
    summary: "revoke an API key",
    words: 2,
    needsStores: true,
    options: {},
    async run(call) {
      const [who, id = ""] = call.words;
      const user = await findUser(call, who);
      if (!(await (await keysOf(call)).revoke(user, id.replace(/^pk_/, ""))))
        throw new CommandFailed(`${user.username} has no key ${JSON.stringify(id)}`);
      call.say(`revoked ${id}`);
    },
  },
];

async function createKey(call: Call): Promise<void> {
  const user = await findUser(call, call.words[0]);
  const permissions = listValue(call, "permission");
  const name = textValue(call, "name");
  const days = textValue(call, "days");
  const { key, expiresAt } = await (await keysOf(call)).create(user, {
    ...(name === undefined ? {} : { name }),
    // Without --permission, the key has all permissions of its owner.
    ...(permissions.length === 0 ? {} : { permissions }),
    ...(days === undefined ? {} : { expiresInSeconds: secondsOf(days) }),
  });
  const end = expiresAt === null ? "never expires" : `expires on ${day(expiresAt)}`;
  call.complain(`This is the only time the key is shown. It ${end}.`);
  call.say(key);
}

async function keysOf(call: Call): Promise<APIKeys> {
  const { durable, bus } = await call.stores();
  return new APIKeys({ store: durable, bus });
}

function secondsOf(days: string): number | "never" {
  if (days === "never") return days;
  const count = Number(days);
  if (!Number.isInteger(count) || count < 1)
    throw new CommandFailed('--days must be a whole number of at least 1, or "never"');
  return count * 86_400;
}

function day(at: Date | null): string {
  return at === null ? "never" : at.toISOString().slice(0, 10);
}
