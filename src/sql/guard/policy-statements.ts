import type { Kysely } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { guardOfHandle, unguardedConnection } from "./guarded-dialect.ts";
import { Policies, type PolicyStatements } from "./policies.ts";

/**
 * Returns the statements that create the policies of a database's guard. Throws `ConfigurationError` for a database without policies,
 * for a rule from which no sample user may do anything, and for one that no policy can contain.
 *
 * @param isForced whether the policies concern the owners of the tables too
 * @param role the only role, besides the owner, that may execute the functions of the policies; `null` for every role
 */
export async function policyStatements(
  database: Kysely<any>,
  isForced: boolean,
  role: string | null,
): Promise<PolicyStatements> {
  const policies = await readPolicies(database);
  const [first] = policies.unsampled();
  if (first !== undefined)
    throw new ConfigurationError(
      "openDatabase.policies",
      `has no sample user for the rule ${first}, whose policy would hide every row: give a list with a user who may do it`,
    );
  return policies.statements(isForced, role);
}

/** Reads the policies of the guard's rules, and compares them with nothing. */
export async function readPolicies(database: Kysely<any>): Promise<Policies> {
  const guard = guardOfHandle(database);
  if (guard === null || guard.policies === null)
    throw new ConfigurationError(
      "openDatabase.policies",
      "must be true, or a list of sample users, to write the policies of guard",
    );
  return database.getExecutor().provideConnection((connection) => Policies.of(guard, unguardedConnection(connection)));
}
