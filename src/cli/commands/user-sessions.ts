import type { SessionStore } from "../../auth/sessions/session-store.ts";
import type { Stores } from "../../stores/stores.ts";
import { CommandFailed, UsageError } from "../output/command-failed.ts";
import { type Result, sentence } from "../output/result.ts";
import { tableLines } from "../output/table-lines.ts";
import { findUser } from "../project/find-user.ts";
import type { Call } from "./runner.ts";

interface SessionFlags {
  readonly revoke?: string;
  readonly revokeAll?: boolean;
}

/** `portico user sessions` */
export async function userSessions({
  project,
  options,
  width,
  words: [who = ""],
}: Call<SessionFlags>): Promise<Result> {
  const { revoke: one, revokeAll = false } = options;
  if (one !== undefined && !SESSION_ID.test(one))
    throw new UsageError(`--revoke ${JSON.stringify(one)}: this is not the id of a session`);
  if (one !== undefined && revokeAll) throw new UsageError("pass either --revoke or --revoke-all");
  const stores = await project.stores();
  const user = await findUser(project, who);
  const all = await (await sessionsIn(stores)).list(user.identity);
  if (one === undefined && !revokeAll) {
    const sessions = all.map(({ handle, record, expiresAt }) => ({
      id: handle,
      createdAt: new Date(record.issuedAt),
      expiresAt: new Date(expiresAt),
      address: record.address,
      device: record.device,
    }));
    const columns = {
      id: "id",
      createdAt: "created",
      expiresAt: "expires at the latest",
      address: "address",
      device: "device",
    };
    return {
      data: { sessions },
      lines: sessions.length === 0 ? ["no sessions"] : tableLines(sessions, columns, width),
    };
  }
  if (one !== undefined && !all.some(({ handle }) => handle === one))
    throw new CommandFailed(`${user.username} has no session ${JSON.stringify(one)}`);
  const count = await endSessions(stores, user.identity, one);
  return sentence(`revoked ${count} ${count === 1 ? "session" : "sessions"} of ${user.username}`, { revoked: count });
}

/** Ends one session of the user or all of them, and returns how many there were. */
export async function endSessions(stores: Stores, user: string, one?: string): Promise<number> {
  const store = await sessionsIn(stores);
  const handles = one === undefined ? await store.handles(user) : [one];
  const count = await store.end(user, handles);
  const { revoked } = await import("../../kernel/identity/credential.ts");
  // Running processes close the open sockets. A process that misses the event rechecks within a minute.
  await Promise.allSettled(
    handles.map((handle) => stores.bus.publish(revoked, { user, credential: `session:${handle}` })),
  );
  return count;
}

async function sessionsIn({ durable }: Stores): Promise<SessionStore> {
  const { SessionStore } = await import("../../auth/sessions/session-store.ts");
  const { systemClock } = await import("../../core/clock.ts");
  return new SessionStore(durable, systemClock, LIMITS);
}

const SESSION_ID = /^[\w-]{43}$/;

/** The maximum lifetimes of `SessionMiddleware`, so that this command shortens no session. */
const MAX_LENGTH = { idleMs: 400 * 86_400_000, absoluteMs: 400 * 86_400_000 };
const LIMITS = { plain: MAX_LENGTH, remembered: MAX_LENGTH, maxPerUser: 50 };
