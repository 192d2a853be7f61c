import type { Gate } from "../../../kernel/access/gate.ts";
import { useAuth } from "../../../kernel/access/use-auth.ts";

/** The gate of routes for people only: it accepts sessions and tokens, and rejects every API key. */
export const byPerson: Gate<true, "session" | "jwt"> = useAuth({ scopes: ["session", "jwt"] });
