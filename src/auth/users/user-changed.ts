import { type Topic, topic } from "../../stores/pub-sub.ts";

export { revoked } from "../../http/identity/credential.ts";

/** Says that what is stored of a user is another thing now, for those who keep copies; `null` stands for any of them. */
export const userChanged: Topic<{ readonly user: string | null }> = topic("portico.user-changed");
