import type { Gate } from "../http/access/gate.ts";
import { nameOf as nodeName } from "../http/access/gate-node.ts";
import { listScopeOf } from "../http/access/list-scope-of.ts";
import { nodeOf } from "../http/access/read-gate.ts";
import type { BaseContext } from "../http/context/http-context.ts";
import type { AuthScope, Caller } from "../http/identity/identity.ts";
import { type AnyHandler, type DataHandler, isScopable, type Scopable } from "../pagination/data-handler.ts";
import type { ListScope } from "../pagination/list-scope.ts";

/** The users and rows that `expectAgreement` compares. */
export interface AgreementOptions<Row> {
  /** Users with different permissions: at least one must be allowed a row, and one must be refused a row. */
  readonly users: readonly Caller[];
  /** The list that `where` restricts, usually a `tableHandler`. */
  readonly handler: DataHandler<Row> & Scopable<Row>;
  /** All rows of the list. @default the rows of the handler */
  readonly rows?: readonly Row[];
  /** The members of the context that the rule reads besides the user. @default none */
  readonly ctx?: object;
}

/**
 * Checks that the two halves of an authorization rule allow each user the same rows: `where` in the database, and
 * `allows` in JavaScript. Throws an error that names the rule, the user and the rows that only one half includes. It
 * also throws if the users and rows prove nothing.
 *
 * @example
 * ```ts
 * import type { Kysely } from "kysely";
 * import { isIn, rule } from "portico";
 * import { SimpleUser } from "portico/auth";
 * import { tableHandler } from "portico/sql";
 * import { expectAgreement } from "portico/testing";
 *
 * interface ProjectRow { id: string; owner_id: string }
 * declare const database: Kysely<{ projects: ProjectRow }>;
 * const ownProjects = rule<ProjectRow>({
 *   name: "project.own",
 *   allows: (user, project) => project.owner_id === user.identity,
 *   where: (user) => isIn("owner_id", [user.identity]),
 * });
 *
 * await expectAgreement(ownProjects, {
 *   users: [new SimpleUser("ada"), new SimpleUser("a user without projects")],
 *   handler: tableHandler(database.selectFrom("projects").selectAll()),
 * });
 * ```
 */
export async function expectAgreement<Row>(
  rule: Gate<boolean, AuthScope, { readonly parent: Row }>,
  options: AgreementOptions<Row>,
): Promise<void> {
  const { users } = options;
  const handler = options.handler as AnyHandler<Row>;
  const node = nodeOf(rule);
  const name = nodeName(node);
  if (!isScopable(handler))
    throw new Error(
      `the data handler ${options.handler.constructor.name} has no scopedTo, so \`where\` cannot restrict it`,
    );
  if (users.length === 0) throw provesNothing(name, "there are no users");
  const rows = options.rows ?? (await rowsOf(handler));
  if (rows.length === 0) throw provesNothing(name, "there are no rows");

  const keyOf = keysOf((handler as AnyHandler<Row>).uniqueKey ?? ["id"]);
  const keys = rows.map(keyOf);
  const faults: string[] = [];
  let [allowed, refused] = [0, 0];
  for (const [index, user] of users.entries()) {
    const scope: ListScope = await listScopeOf(node, contextOf(user, options.ctx));
    if (scope.condition === null) throw new Error(`the rule ${name} has no \`where\` to compare with \`allows\``);
    const decisions = await scope.allows(rows);
    const byAllows = new Set(keys.filter((_key, at) => decisions[at] === true));
    const byWhere = new Set((await rowsOf(handler.scopedTo(scope.condition))).map(keyOf));
    allowed += byAllows.size;
    refused += rows.length - byAllows.size;
    faults.push(...faultsOf(userName(user, index), byAllows, byWhere));
  }
  if (faults.length > 0) throw new Error(`the halves of the rule ${name} disagree. ${faults.join(" ")}`);
  if (allowed === 0) throw provesNothing(name, "no user is allowed a row");
  if (refused === 0) throw provesNothing(name, "no user is refused a row");
}

const LOG = {
  error({ err }: { readonly err?: unknown }): never {
    throw err;
  },
  warn() {},
};

/** A context for one user, with the members that the test gives it. */
function contextOf(user: Caller, members: object = {}): BaseContext {
  return { log: LOG, ...members, user, identity: { user, auth: null } } as unknown as BaseContext;
}

function provesNothing(name: string, reason: string): Error {
  return new Error(`expectAgreement proves nothing about the rule ${name}: ${reason}`);
}

async function rowsOf<Row>(handler: DataHandler<Row>): Promise<readonly Row[]> {
  return handler.getItems(0, await handler.getTotalItems());
}

/** Keys are compared as text, because a driver may return a large number as text. */
function keysOf(columns: readonly string[]): (row: unknown) => string {
  return (row) => {
    const pairs = columns.map((column) => {
      const value = (row as Readonly<Record<string, string | number | Date | undefined>> | null)?.[column];
      if (value === undefined)
        throw new Error(`a row has no field ${column}, which is part of the handler's uniqueKey`);
      return `${column} ${value instanceof Date ? value.toISOString() : String(value)}`;
    });
    return pairs.join(", ");
  };
}

function faultsOf(user: string, byAllows: ReadonlySet<string>, byWhere: ReadonlySet<string>): readonly string[] {
  const halves = [
    ["where", byWhere.difference(byAllows)],
    ["allows", byAllows.difference(byWhere)],
  ] as const;
  return halves.flatMap(([half, keys]) =>
    keys.size === 0 ? [] : [`For ${user}, only \`${half}\` includes the rows with ${listed([...keys])}.`],
  );
}

const MOST_LISTED = 10;

function listed(keys: readonly string[]): string {
  const shown = keys.slice(0, MOST_LISTED).join("; ");
  return keys.length > MOST_LISTED ? `${shown}; and ${keys.length - MOST_LISTED} more` : shown;
}

/** A user may contain secrets, so it is named by its identity or else by its index. */
function userName(user: unknown, index: number): string {
  const { identity, id } = (user ?? {}) as { readonly identity?: unknown; readonly id?: unknown };
  const name = [identity, id].find((value) => typeof value === "string" || typeof value === "number");
  return name === undefined ? `users[${index}]` : `the user ${JSON.stringify(name)}`;
}
