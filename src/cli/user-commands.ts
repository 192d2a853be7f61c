import { SessionStore } from "../auth/sessions/session-store.ts";
import { systemClock } from "../core/clock.ts";
import { revoked } from "../http/identity/credential.ts";
import { type Call, type Command, CommandFailed, listValue, textValue } from "./command.ts";
import { findUser, usersOf } from "./find-user.ts";

/** `portico user ...` */
export const userCommands: readonly Command[] = [
  {
    name: "user create",
    usage: "--email <address> --username <name> [--permission <name>]... [--role <name>]...",
    summary: "create a user; the password is prompted for, or read from the first line of standard input",
    words: 0,
    options: {
      email: { type: "string" },
      username: { type: "string" },
      permission: { type: "string", multiple: true },
      role: { type: "string", multiple: true },
    },
    run: createUser,
  },
  {
    name: "user disable",
    usage: "<address, name or id>",
    summary: "stop a user from signing in",
    words: 1,
    options: {},
    async run(call) {
      const user = await findUser(call, call.words[0]);
      await (await usersOf(call)).objects.disable(user);
      call.say(`disabled ${user.username} (${user.id})`);
    },
  },
  {
    name: "user enable",
    usage: "<address, name or id>",
    summary: "allow a user to sign in again",
    words: 1,
    options: {},
    async run(call) {
      const user = await findUser(call, call.words[0]);
      await (await usersOf(call)).objects.enable(user);
      call.say(`enabled ${user.username} (${user.id})`);
    },
  },
  {
    name: "user sessions",
    usage: "<address, name or id> [--revoke <id> | --revoke-all]",
    summary: "list or revoke the sessions of a user",
    words: 1,
    needsStores: true,
    options: { revoke: { type: "string" }, "revoke-all": { type: "boolean" } },
    run: sessions,
  },
];

async function createUser(call: Call): Promise<void> {
  const [email, username] = [textValue(call, "email"), textValue(call, "username")];
  if (email === undefined || username === undefined) throw new CommandFailed("--email and --username are required");
  const { objects } = await usersOf(call);
  const password = await call.askPassword();
  const trx = await call.database.begin();
  try {
    const users = objects.within(trx);
    const user = await users.createUser({ email, username, password });
    await users.grant(user, { permissions: listValue(call, "permission"), roles: listValue(call, "role") });
    await trx.end("success");
    call.say(`created ${user.username} (${user.id})`);
  } catch (error) {
    await trx.end("failure");
    throw error;
  }
}

async function sessions(call: Call): Promise<void> {
  const user = await findUser(call, call.words[0]);
  const { durable, bus } = await call.stores();
  const store = new SessionStore(durable, systemClock, LIMITS);
  const one = textValue(call, "revoke");
  const all = await store.list(user.identity);
  if (one === undefined && call.values["revoke-all"] !== true) {
    for (const { handle, record, expiresAt } of all)
      call.say(
        [
          handle,
          `created ${time(record.issuedAt)}`,
          `expires ${time(expiresAt)} at the latest`,
          record.address,
          record.device,
        ].join("  "),
      );
    if (all.length === 0) call.say("no sessions");
    return;
  }
  const handles = one === undefined ? await store.handles(user.identity) : [one];
  if (one !== undefined && !all.some(({ handle }) => handle === one))
    throw new CommandFailed(`${user.username} has no session ${JSON.stringify(one)}`);
  const count = await store.end(user.identity, handles);
  // Running processes close the open sockets. A process that misses the event rechecks within a minute.
  await Promise.allSettled(
    handles.map((handle) => bus.publish(revoked, { user: user.identity, credential: `session:${handle}` })),
  );
  call.say(`revoked ${count} ${count === 1 ? "session" : "sessions"} of ${user.username}`);
}

/** The maximum lifetimes of `SessionMiddleware`, so that this command shortens no session. */
const LONGEST = { idleMs: 400 * 86_400_000, absoluteMs: 400 * 86_400_000 };
const LIMITS = { plain: LONGEST, remembered: LONGEST, maxPerUser: 50 };

function time(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace("T", " ");
}
