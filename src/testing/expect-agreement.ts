import type { MaybePromise } from "../core/maybe-promise.ts";
import type { Condition } from "../pagination/condition.ts";
import { type AnyHandler, type DataHandler, isScopable, type Scopable } from "../pagination/data-handler.ts";

/** The parts of an authorization rule that `expectAgreement` compares. */
export interface AgreementRule<U, Row> {
  readonly name: string;
  allows(user: U, row: Row, place: { readonly ctx: any }): MaybePromise<boolean>;
  where?(user: U): Condition;
}

export interface AgreementOptions<U, Row> {
  /** Users with different permissions: at least one must be allowed a row, and one must be refused a row. */
  readonly users: readonly U[];
  /** The list that `where` restricts, usually a `tableHandler`. */
  readonly handler: DataHandler<Row> & Scopable<Row>;
  /** All rows of the list. @default the rows of the handler */
  readonly rows?: readonly Row[];
  /** The context that `allows` receives. @default none */
  readonly ctx?: unknown;
}

/**
 * Checks that the two halves of an authorization rule allow each user the same rows: `where` in the database, and
 * `allows` in JavaScript. Throws an error that names the rule, the user and the rows that only one half includes. It
 * also throws if the users and rows prove nothing.
 *
 * @example
 * ```ts
 * import type { Kysely } from "kysely";
 * import { isIn } from "portico";
 * import { tableHandler } from "portico/sql";
 * import { expectAgreement } from "portico/testing";
 *
 * declare const database: Kysely<{ projects: { id: string; team_id: string } }>;
 * const visible = {
 *   name: "project.visible",
 *   allows: (user: { teams: string[] }, project: { team_id: string }) => user.teams.includes(project.team_id),
 *   where: (user: { teams: string[] }) => isIn("team_id", user.teams),
 * };
 *
 * await expectAgreement(visible, {
 *   users: [{ teams: [] }, { teams: ["red"] }, { teams: ["red", "blue"] }],
 *   handler: tableHandler(database.selectFrom("projects").selectAll()),
 * });
 * ```
 */
export async function expectAgreement<U, Row>(
  rule: AgreementRule<U, Row>,
  options: AgreementOptions<U, Row>,
): Promise<void> {
  const { users, ctx } = options;
  const handler = options.handler as AnyHandler<Row>;
  if (rule.where === undefined) throw new Error(`the rule ${rule.name} has no \`where\` to compare with \`allows\``);
  if (!isScopable(handler))
    throw new Error(
      `the data handler ${options.handler.constructor.name} has no scopedTo, so \`where\` cannot restrict it`,
    );
  if (users.length === 0) throw provesNothing(rule, "there are no users");
  const rows = options.rows ?? (await rowsOf(handler));
  if (rows.length === 0) throw provesNothing(rule, "there are no rows");

  const keyOf = keysOf((handler as AnyHandler<Row>).uniqueKey ?? ["id"]);
  const keys = rows.map(keyOf);
  const faults: string[] = [];
  let [allowed, refused] = [0, 0];
  for (const [index, user] of users.entries()) {
    const decisions = await Promise.all(rows.map(async (row) => rule.allows(user, row, { ctx })));
    const byAllows = new Set(keys.filter((_key, at) => decisions[at] === true));
    const byWhere = new Set((await rowsOf(handler.scopedTo(rule.where(user)))).map(keyOf));
    allowed += byAllows.size;
    refused += rows.length - byAllows.size;
    faults.push(...faultsOf(nameOf(user, index), byAllows, byWhere));
  }
  if (faults.length > 0) throw new Error(`the halves of the rule ${rule.name} disagree. ${faults.join(" ")}`);
  if (allowed === 0) throw provesNothing(rule, "no user is allowed a row");
  if (refused === 0) throw provesNothing(rule, "no user is refused a row");
}

function provesNothing({ name }: { readonly name: string }, reason: string): Error {
  return new Error(`expectAgreement proves nothing about the rule ${name}: ${reason}`);
}

async function rowsOf<Row>(handler: DataHandler<Row>): Promise<readonly Row[]> {
  return handler.getItems(0, await handler.getTotalItems());
}

/** Keys are compared as text, because a driver may return a large number as text. */
function keysOf(columns: readonly string[]): (row: unknown) => string {
  return (row) => {
    const pairs = columns.map((column) => {
      const value: unknown = (row as Readonly<Record<string, unknown>> | null)?.[column];
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
function nameOf(user: unknown, index: number): string {
  const { identity, id } = (user ?? {}) as { readonly identity?: unknown; readonly id?: unknown };
  const name = [identity, id].find((value) => typeof value === "string" || typeof value === "number");
  return name === undefined ? `users[${index}]` : `the user ${JSON.stringify(name)}`;
}
