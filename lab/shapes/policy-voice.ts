import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { SimpleUser } from "../../src/auth/index.ts";
import { userCaller } from "../../src/sql/guard/guard-caller.ts";
import type { Policies } from "../../src/sql/guard/policies.ts";
import { readPolicies } from "../../src/sql/guard/policy-statements.ts";
import type { Database } from "../../src/sql/index.ts";
import { type GuardPlace, onServer } from "./guard-place.ts";

/** The policies of generated rules, for a role that owns nothing and statements without the conditions of the guard. */
export class PolicyVoice {
  readonly #sampled: Database;
  readonly #owner: Database;
  readonly #bare: Database;
  readonly #role: string;
  #policies: Policies | null = null;

  private constructor(place: GuardPlace, role: string) {
    const policies = ["0", "2"].map((name) => new SimpleUser(name));
    this.#sampled = place.open({ guard: place.rules, policies });
    this.#owner = place.guarded.asSystem("the policies");
    this.#bare = place.open({}, role);
    this.#role = role;
  }

  static async of(place: GuardPlace): Promise<PolicyVoice> {
    const role = `portico_voice_${randomUUID().slice(0, 8)}`;
    await onServer([`create role ${role} login`]);
    const owner = place.guarded.asSystem("the rights of a role");
    const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(owner);
    const schema = rows[0]?.schema as string;
    for (const right of [`usage on schema ${schema}`, `all on all tables in schema ${schema}`])
      await sql.raw(`grant ${right} to ${role}`).execute(owner);
    return new PolicyVoice(place, role);
  }

  /** Makes the policies those of the current rules. */
  async apply(): Promise<void> {
    this.#policies = await readPolicies(this.#sampled);
    await sql.raw(this.#policies.statements(false, null).up.join("; ")).execute(this.#owner);
  }

  /** Begins a transaction of a user. */
  async begin(user: SimpleUser): ReturnType<Database["begin"]> {
    const trx = await this.#bare.begin();
    const setting = (this.#policies as Policies).settingFor(userCaller(user), "");
    await sql`select set_config('portico.guard', ${setting}, true)`.execute(trx);
    return trx;
  }

  /** Drops the role, after the tables that it has rights on. */
  async close(): Promise<void> {
    await onServer([`drop role ${this.#role}`]);
  }
}
