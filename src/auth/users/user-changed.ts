import { type Topic, topic } from "../../stores/pub-sub.ts";

export { revoked } from "../../http/identity/credential.ts";

/** Published when a stored user changes, so that caches can drop their copy. `null` means any user. */
export const userChanged: Topic<{ readonly user: string | null }> = topic("portico.user-changed");
