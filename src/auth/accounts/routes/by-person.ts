import type { Gate } from "../../../http/context/gate.ts";
import { useAuth } from "../../use-auth.ts";

/** The gate of what only a person may do to an account: a key for a program, however narrow, does not get there. */
export const byPerson: Gate<true, "session" | "jwt"> = useAuth({ scopes: ["session", "jwt"] });
