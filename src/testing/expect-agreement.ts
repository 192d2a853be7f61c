import type { MaybePromise } from "../core/maybe-promise.ts";
import type { Caller } from "../kernel/identity/identity.ts";
import type { DataHandler } from "../pagination/handlers/data-handler.ts";
import { type ListScope, listWatchers, restrictedBy } from "../pagination/handlers/list-scope.ts";
import type { PorticoApp } from "../portico-app.ts";
import { type TestClient, testClient } from "./test-client.ts";

/** The users and lists that `expectAgreement` compares. */
export interface AgreementOptions {
  /** Users with different permissions: each rule must allow one of them a row, and refuse one of them a row. */
  readonly users: readonly Caller[];
  /** Reads the lists of the application as one of the users, by any requests. */
  readonly lists: (client: TestClient) => MaybePromise<unknown>;
}

/**
 * Checks that the two halves of each authorization rule allow the same rows: `where` in the database, and `allows` in
 * JavaScript. It compares them over all rows of each list that your requests read, in the application's own query. Throws an
 * error that names the rule, the user and the rows that only one half includes. It also throws if the users and rows prove
 * nothing about a rule, and if no list with a rule was read.
 *
 * @example
 * ```ts
 * import { isIn, PorticoApp, rule } from "portico";
 * import { SimpleUser } from "portico/auth";
 * import { CursorPagination } from "portico/pagination";
 * import { openDatabase, type PorticoTables, tableHandler } from "portico/sql";
 * import { expectAgreement } from "portico/testing";
 * import { z } from "zod";
 *
 * interface ProjectRow { id: string; owner_id: string }
 * const database = openDatabase<PorticoTables & { projects: ProjectRow }>("sqlite::memory:");
 * const ownProjects = rule<ProjectRow>({
 *   name: "project.own",
 *   allows: (user, project) => project.owner_id === user.identity,
 *   where: (user) => isIn("owner_id", [user.identity]),
 * });
 * const item = z.object({ id: z.string() });
 * const strategy = new CursorPagination({ sortField: "id" });
 * const app = new PorticoApp();
 * app.get("/projects", { paginated: { strategy, item, rule: ownProjects } }, ({ response }) =>
 *   response.apaginate(tableHandler(database.selectFrom("projects").selectAll()), { strategy }),
 * );
 *
 * await expectAgreement(app, {
 *   users: [new SimpleUser("ada"), new SimpleUser("a user without projects")],
 *   lists: (client) => client.get("/projects"),
 * });
 * ```
 */
export async function expectAgreement(app: PorticoApp, { users, lists }: AgreementOptions): Promise<void> {
  if (users.length === 0) throw new Error("expectAgreement proves nothing: there are no users");
  const findings = new Map<string, Finding>();
  const client = testClient(app);
  for (const [index, user] of users.entries()) {
    const name = userName(user, index);
    const watch = (handler: Watched, scope: ListScope): Promise<void> => compare(handler, scope, name, findings);
    listWatchers.add(watch);
    try {
      await lists(user.isAuthenticated ? client.as(user) : client);
    } finally {
      listWatchers.delete(watch);
    }
  }
  if (findings.size === 0) throw new Error("expectAgreement proves nothing: no list with a rule over a table was read");
  for (const [rule, { faults, allowed, refused, error }] of findings) {
    if (error !== undefined) throw error;
    if (faults.size > 0) throw new Error(`the halves of the rule ${rule} disagree. ${[...faults].join(" ")}`);
    if (allowed + refused === 0) throw provesNothing(rule, "there are no rows");
    if (allowed === 0) throw provesNothing(rule, "no user is allowed a row");
    if (refused === 0) throw provesNothing(rule, "no user is refused a row");
  }
}

type Watched = Parameters<typeof restrictedBy<unknown>>[0] & {
  readonly uniqueKey?: readonly string[];
  readonly "~unguarded"?: () => Watched;
};

/** The findings about one rule. */
interface Finding {
  readonly faults: Set<string>;
  allowed: number;
  refused: number;
  /** The first failure of a half. */
  error?: Error;
}

/** Compares the halves over all rows of a list. Never rejects, because the request is about to continue. */
async function compare(given: Watched, scope: ListScope, user: string, findings: Map<string, Finding>): Promise<void> {
  const finding: Finding = findings.get(scope.name) ?? { faults: new Set(), allowed: 0, refused: 0 };
  findings.set(scope.name, finding);
  try {
    // The guard of a database has left out the rows that the rule is about.
    const handler = given["~unguarded"]?.() ?? given;
    const keyOf = keysOf(handler.uniqueKey ?? ["id"]);
    const rows = await rowsOf(handler);
    const decisions = await scope.allows(rows);
    const byAllows = new Set(rows.filter((_row, at) => decisions[at] === true).map(keyOf));
    const restricted = scope.condition === null ? handler : restrictedBy(handler, scope.condition);
    const byWhere = new Set((await rowsOf(restricted as DataHandler<unknown>)).map(keyOf));
    finding.allowed += byAllows.size;
    finding.refused += rows.length - byAllows.size;
    for (const fault of faultsOf(user, byAllows, byWhere)) finding.faults.add(fault);
  } catch (cause) {
    const reason = "the application's log has the error of a rule that throws";
    finding.error ??= new Error(`the halves of the rule ${scope.name} failed for ${user}: ${reason}`, { cause });
  }
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

const MAX_LISTED = 10;

function listed(keys: readonly string[]): string {
  const shown = keys.slice(0, MAX_LISTED).join("; ");
  return keys.length > MAX_LISTED ? `${shown}; and ${keys.length - MAX_LISTED} more` : shown;
}

/** A user may contain secrets, so it is named by its identity or else by its index. */
function userName(user: unknown, index: number): string {
  const { identity, id } = (user ?? {}) as { readonly identity?: unknown; readonly id?: unknown };
  const name = [identity, id].find((value) => typeof value === "string" || typeof value === "number");
  return name === undefined ? `users[${index}]` : `the user ${JSON.stringify(name)}`;
}
