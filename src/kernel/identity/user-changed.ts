import { type Topic, topic } from "../../stores/pub-sub.ts";

/**
 * The topic of changed users, with the identity of the user, or `null` if any user may have changed. Caches of users drop their
 * copy, and every process rechecks the open sockets and event streams of that user: it loads the user again and checks the
 * gates of running subscriptions. No connection is closed unless its credential is no longer valid: see `revoked`.
 *
 * The user model of `portico/sql` publishes it. Publish it yourself after a change in your own tables that affects access.
 *
 * @example
 * ```ts
 * import { userChanged } from "portico";
 * import { mutation, t } from "portico/graphql";
 *
 * declare function removeMember(room: string, user: string): Promise<void>;
 *
 * export const leave = mutation(t.boolean, { params: { room: t.id }, auth: true })(async ({ room, ctx }) => {
 *   const id = ctx.user.identity;
 *   await removeMember(room, id);
 *   await ctx.pubsub.publish(userChanged, { user: id });
 *   return true;
 * });
 * ```
 */
export const userChanged: Topic<{ readonly user: string | null }> = topic("portico.user-changed");
