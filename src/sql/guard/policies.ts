import type { DatabaseConnection } from "kysely";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { ConditionNode } from "../../pagination/conditions/condition.ts";
import type { Guard } from "./guard.ts";
import type { UserCaller } from "./guard-caller.ts";
import {
  digest,
  literal,
  type PolicyExpression,
  policyExpression,
  quoted,
  SETTING,
  SYSTEM,
  settingOf,
} from "./policy-expression.ts";
import { type PolicyTables, readPolicyCatalogue } from "./read-policy-catalogue.ts";

/** The statements that create the policies of a guard, and those that bring back the ones that the database has now. */
export interface PolicyStatements {
  readonly up: readonly string[];
  readonly down: readonly string[];
}

type Verb = "read" | "write";
const VERBS: readonly Verb[] = ["read", "write"];
const OPTION = "openDatabase.policies";
/** Select, insert, update and delete. */
const VERBS_OF_SQL = 4;

/** The rules of a guard as policies of PostgreSQL. */
export class Policies {
  readonly #guard: Guard;
  readonly #tables: PolicyTables;
  /** The tables with policies. */
  readonly #policed: readonly string[];
  /** The shapes of each table and verb, in the order of their numbers: `"read projects"`. */
  readonly #shapes = new Map<string, readonly string[]>();
  readonly #functions = new Map<string, Map<string, string>>();

  /** Reads the catalogue, and the shapes of the conditions of sample users. */
  static async of(guard: Guard, connection: DatabaseConnection): Promise<Policies> {
    return new Policies(guard, await readPolicyCatalogue(connection));
  }

  private constructor(guard: Guard, tables: PolicyTables) {
    this.#guard = guard;
    this.#tables = tables;
    this.#policed = guard.ruled.filter((table) => this.#isPoliced(table));
    for (const table of this.#policed) for (const verb of VERBS) this.#learn(table, verb);
  }

  /** A view that reads its tables for its caller is protected by their policies. */
  #isPoliced(table: string): boolean {
    const { kind, isInvoker } = this.#tables.tableOf(table);
    if (kind === "table" || isInvoker) return kind === "table";
    throw new ConfigurationError(
      OPTION,
      `cannot protect ${table}, which isn't a table: create the view with (security_invoker = true), or leave out policies`,
    );
  }

  #learn(table: string, verb: Verb): void {
    const functions = this.#functions.get(table) ?? new Map<string, string>();
    const samples = this.#guard.samples(table, verb).filter(({ kind }) => kind !== "never");
    const found = samples.map((node) => this.#expression(table, verb, node));
    for (const one of found) for (const [name, text] of one.functions) functions.set(name, text);
    this.#functions.set(table, functions);
    this.#shapes.set(`${verb} ${table}`, [...new Set(found.map(({ text }) => text))]);
  }

  #expression(table: string, verb: Verb, node: ConditionNode): PolicyExpression {
    return policyExpression(node, { table, verb, catalogue: this.#tables });
  }

  /**
   * Returns the setting of a caller. A table whose condition has another shape has no values, so its policies hide everything. Throws
   * for such a table if the statement names it.
   */
  settingFor(caller: UserCaller | null, sql: string): string {
    const values: Record<string, Partial<Record<Verb, unknown>>> = {};
    const named = this.#guard.namedIn(sql);
    for (const table of this.#policed) {
      const own: Partial<Record<Verb, unknown>> = {};
      for (const verb of VERBS) {
        const given = this.#valuesFor(table, verb, caller, named.has(table));
        if (given !== null) own[verb] = given;
      }
      values[table] = own;
    }
    return JSON.stringify(values);
  }

  #valuesFor(table: string, verb: Verb, caller: UserCaller | null, isNamed: boolean): readonly unknown[] | null {
    const condition = this.#conditionFor(table, verb, caller);
    if (condition === null || condition.kind === "never") return null;
    const found = this.#expression(table, verb, condition);
    const shape = (this.#shapes.get(`${verb} ${table}`) as readonly string[]).indexOf(found.text);
    if (shape >= 0) return [shape, ...found.values];
    if (!isNamed) return null;
    throw new PorticoError(
      "POLICY_SHAPE_UNKNOWN",
      `The policies of ${table} have no shape for the condition that its rule returns to ${verb} for this caller: add a user with such a condition to the sample users of openDatabase.policies, run portico rls --write, and apply the migration`,
    );
  }

  /** A rule that cannot decide hides its rows. A statement on its table fails before it is sent. */
  #conditionFor(table: string, verb: Verb, caller: UserCaller | null): ConditionNode | null {
    try {
      return this.#guard.conditionFor(table, verb, caller);
    } catch {
      return null;
    }
  }

  /** The rules from which no sample user may do anything, so that their policies would hide everything. */
  unsampled(): readonly string[] {
    const isClosed = (table: string, verb: Verb): boolean =>
      verb === "write" && this.#guard.tables.get(table)?.write === "closed";
    return this.#policed.flatMap((table) =>
      VERBS.filter((verb) => this.#shapes.get(`${verb} ${table}`)?.length === 0 && !isClosed(table, verb)).map(
        (verb) => `${table}.${verb}`,
      ),
    );
  }

  /** Returns the statements. Throws `ConfigurationError` for a rule that no policy can contain. */
  statements(isForced: boolean, role: string | null): PolicyStatements {
    const parts = this.#policed.map((table) => this.#statementsOf(table, isForced, role));
    // Tables share functions, which the policies of all of them must have left. Earlier policies keep theirs.
    const kept = this.#isWritten ? new Set<string>() : this.#tables.functions;
    const functions = new Set([...this.#functions.values()].flatMap((own) => [...own.keys()])).difference(kept);
    const drops = [...functions].map((signature) => `drop function if exists ${signature}`);
    return { up: [...new Set(parts.flatMap(({ up }) => up))], down: [...parts.flatMap(({ down }) => down), ...drops] };
  }

  #statementsOf(table: string, isForced: boolean, role: string | null): PolicyStatements {
    const name = this.#tables.nameOf(table);
    const functions = this.#functions.get(table) as Map<string, string>;
    const [read, write] = VERBS.map((verb) => this.#policyText(table, verb)) as [string, string];
    const policies = [
      ["portico_read", `for select using (${read})`],
      ["portico_insert", `for insert with check (${write})`],
      ["portico_update", `for update using (${write}) with check (${write})`],
      ["portico_delete", `for delete using (${write})`],
    ] as const;
    const drops = policies.map(([policy]) => `drop policy if exists ${policy} on ${name}`);
    const force = isForced ? [`alter table ${name} force row level security`] : [];
    return {
      up: [
        ...functions.values(),
        ...(role === null ? [] : [...functions.keys()].flatMap((signature) => forRole(signature, role))),
        ...drops,
        ...policies.map(([policy, rest]) => `create policy ${policy} on ${name} ${rest}`),
        `comment on policy portico_read on ${name} is ${literal(this.#commentOf(table))}`,
        `alter table ${name} enable row level security`,
        ...force,
      ],
      down: [...drops, ...this.#restored(table)],
    };
  }

  /** Whether the database already has these policies. */
  get #isWritten(): boolean {
    return this.#policed.every((table) => this.#tables.tableOf(table).comment === this.#commentOf(table));
  }

  /** The statements that bring back the policies that a table has now, which are those of an earlier migration. */
  #restored(table: string): readonly string[] {
    const name = this.#tables.nameOf(table);
    const { own, comment, isForced, isEnabled } = this.#tables.tableOf(table);
    if (own.length === 0 || this.#isWritten)
      return [`alter table ${name} no force row level security`, `alter table ${name} disable row level security`];
    return [
      ...own.map(({ name: policy, command, using, check }) => {
        const parts = [using === null ? "" : ` using (${using})`, check === null ? "" : ` with check (${check})`];
        return `create policy ${quoted(policy)} on ${name} for ${command}${parts.join("")}`;
      }),
      ...(comment === null ? [] : [`comment on policy portico_read on ${name} is ${literal(comment)}`]),
      `alter table ${name} ${isForced ? "" : "no "}force row level security`,
      ...(isEnabled ? [] : [`alter table ${name} disable row level security`]),
    ];
  }

  #policyText(table: string, verb: Verb): string {
    const shapes = this.#shapes.get(`${verb} ${table}`) as readonly string[];
    const cases = shapes.map((text, at) => `when '${at}' then ${text}`);
    const isSystem = `coalesce((select current_setting('${SETTING}', true)) = '${SYSTEM}', false)`;
    if (cases.length === 0) return isSystem;
    return `${isSystem} or case (select (${settingOf(table, verb)}) ->> 0) ${cases.join(" ")} else false end`;
  }

  #commentOf(table: string): string {
    return `portico ${digest(VERBS.map((verb) => this.#policyText(table, verb)).join())}`;
  }

  /** Throws `ConfigurationError` if the policies of the database are not those of the rules, or do not concern its role. */
  check(): void {
    for (const table of this.#policed) {
      const { isActive, isEnabled, comment, own, others } = this.#tables.tableOf(table);
      if (!isEnabled || own.length !== VERBS_OF_SQL || comment !== this.#commentOf(table))
        throw new ConfigurationError(
          OPTION,
          `${comment === null ? "found no policies" : "found policies of other rules"} on ${table}: run portico rls --write, and apply the migration`,
        );
      if (others.length > 0)
        throw new ConfigurationError(
          OPTION,
          `found another policy on ${table}, which allows more: drop ${others.join(", ")}`,
        );
      if (!isActive)
        throw new ConfigurationError(
          OPTION,
          `have no effect on ${table} for the role of the database: connect as a role that isn't a superuser, has no BYPASSRLS and doesn't own the table, or write the migration with portico rls --write --force for an owner`,
        );
    }
  }
}

/** A function looks up a related table with the rights of its owner, and PostgreSQL lets every role execute a new one. */
function forRole(signature: string, role: string): readonly string[] {
  return [
    `revoke execute on function ${signature} from public`,
    `grant execute on function ${signature} to ${quoted(role)}`,
  ];
}
