import type { DatabaseConnection } from "kysely";
import type { Guard } from "./guard.ts";
import type { Policies } from "./policies.ts";

const known = new WeakMap<Guard, Policies>();

/**
 * Returns the policies of a guard, which are compared with the database once. Throws `ConfigurationError` if they differ, and then
 * compares them again with the next statement. The modules are loaded only here.
 */
export async function policiesOf(guard: Guard, connection: DatabaseConnection): Promise<Policies> {
  const before = known.get(guard);
  if (before !== undefined) return before;
  const { Policies: Read } = await import("./policies.ts");
  const policies = await Read.of(guard, connection);
  policies.check();
  known.set(guard, policies);
  return policies;
}
