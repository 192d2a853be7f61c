import type { Command } from "commander";
import type { Trace } from "../../audit/stand-ins/trace-gate.ts";
import type { AccessEntry } from "../../audit/surface/access-entry.ts";
import type { RoleGrants } from "../../audit/table/access-table.ts";
import { didYouMean } from "../../core/advice/did-you-mean.ts";
import type { PorticoApp } from "../../portico-app.ts";
import { CommandFailed } from "../output/command-failed.ts";
import type { Result } from "../output/result.ts";
import { findUser } from "../project/find-user.ts";
import type { Project } from "../project/project.ts";
import type { Call, RunCommand } from "./runner.ts";

const PLACE = 'a route ("GET /orders"), a socket ("WebSocket /news"), a field (Query.orders) or a type (Order)';

/** `portico why` and `portico who` */
export function accessCommands(program: Command, run: RunCommand): void {
  program
    .command("why")
    .description("Explains step by step whether a user may reach a place.")
    .argument("<user>", 'an email address, a username or an id, or "anonymous"')
    .argument("<place...>", PLACE)
    .action(run(why));
  program
    .command("who")
    .description("Lists the permissions that open a place, and the roles that have them.")
    .argument("<place...>", PLACE)
    .action(run(who));
}

async function why({ project, words: [name = "", ...place] }: Call<object>): Promise<Result> {
  const entries = await entriesAt(await project.app(), place.join(" "));
  const { traceGate } = await import("../../audit/stand-ins/trace-gate.ts");
  const { answerText } = await import("../../audit/stand-ins/ask-stand-in.ts");
  const user = name === "anonymous" ? null : await findUser(project, name);
  const { CREDENTIALS } = await import("../../audit/stand-ins/sign-in.ts");
  const hasOne = user !== null && (await hasOneFactor(project, user.id));
  const credentials = hasOne ? CREDENTIALS.filter(({ hasTwoFactors }) => !hasTwoFactors) : CREDENTIALS;
  const traces: { kind: string; place: string; trace: Trace }[] = [];
  for (const { kind, place, gate, objects } of entries) {
    traces.push({ kind, place, trace: await traceGate(gate, user, credentials) });
    if (objects !== null && objects !== undefined)
      traces.push({ kind: "objects of", place, trace: await traceGate(objects, user, credentials) });
  }
  const lines = (trace: Trace, depth: number): readonly string[] => [
    `${"  ".repeat(depth)}${answerText(trace.answer)}: ${trace.gate}`,
    ...trace.parts.flatMap((part) => lines(part, depth + 1)),
  ];
  return {
    data: { user: user?.id ?? null, ...(hasOne ? { hasSecondFactor: false } : {}), traces },
    lines: traces.flatMap(({ kind, place, trace }) => [
      `${kind} ${place}`,
      ...lines(trace, 1),
      ...trace.signIns.map((line) => `  after a sign-in, ${line}`),
    ]),
    hints: hasOne ? [`${user.username} has no second factor, so only sign-ins with one factor are considered.`] : [],
  };
}

/**
 * Whether every sign-in of a user has one factor, as far as it is known: the user has no second one, and no backend of the
 * application could have found another.
 */
async function hasOneFactor(project: Project, user: string): Promise<boolean> {
  const { accountOptionsOf, hasOwnBackends } = await import("../project/account-options-of.ts");
  const account = await accountOptionsOf(project);
  if (account === null || (await hasOwnBackends(project))) return false;
  const { FactorStore } = await import("../../auth/factors/factor-store.ts");
  const { methodsOf } = await import("../../auth/factors/factor-record.ts");
  const store = account.store ?? (await project.stores()).durable;
  return methodsOf(await new FactorStore(store).get(user)).length === 0;
}

async function who({ project, words }: Call<object>): Promise<Result> {
  const entries = await entriesAt(await project.app(), words.join(" "));
  const { accessRow, roleAccess } = await import("../../audit/table/access-table.ts");
  const { users = null } = await project.config();
  const roles = await rolesOf(project);
  const found = await Promise.all(
    entries.map(async (entry) => ({
      ...(await accessRow(entry, users)),
      roles: await roleAccess(entry, roles ?? [], users),
    })),
  );
  return {
    data: { places: found },
    lines: found.flatMap(({ kind, place, gate, anonymous, signedIn, grants, roles }) => [
      `${kind} ${place}: ${gate}`,
      `  anonymous: ${anonymous}`,
      `  signed in: ${signedIn}`,
      ...grants.map((grant) => `  with ${grant}`),
      ...roles.map(({ role, access }) => `  role ${role}: ${access}`),
    ]),
    ...(roles === null ? { hints: ["The roles are not shown, because the database is not available."] } : {}),
  };
}

/** The roles in the database, or those of the configuration; `null` without either. */
async function rolesOf(project: Project): Promise<readonly RoleGrants[] | null> {
  try {
    return await (await project.users()).objects.roles();
  } catch {
    const { roles } = await project.config();
    if (roles === undefined) return null;
    return Object.entries(roles).map(([name, permissions]) => ({ name, permissions }));
  }
}

/** The entries of a place: a route may also be a list, and its handler may declare objects. */
async function entriesAt(app: PorticoApp, place: string): Promise<readonly AccessEntry[]> {
  const { surfaceOf } = await import("../../audit/surface/surface-of.ts");
  const { handlerPlace } = await import("../../audit/surface/access-entry.ts");
  const surface = await surfaceOf(app);
  const found = surface.filter((entry) => entry.place === place || handlerPlace(entry) === place);
  if (found.length > 0) return found;
  const matching = surface.filter((entry) => isAt(handlerPlace(entry), place));
  if (matching.length > 0) return matching;
  const hint = didYouMean(place, [...new Set(surface.map((entry) => entry.place))]);
  throw new CommandFailed(
    `${JSON.stringify(place)} is not a route, a socket, a root field, a list, or a field or type with a gate. ` +
      (hint ?? "Run portico audit for a list of places"),
  );
}

/** Whether a place such as `GET /orders/:id` serves the path `GET /orders/7`. */
function isAt(place: string, path: string): boolean {
  const [declared, given] = [place.split("/"), path.split("/")];
  return (
    declared.length === given.length &&
    declared.every((part, at) => part === given[at] || (part.startsWith(":") && given[at] !== ""))
  );
}
