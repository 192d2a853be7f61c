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
    .description("Shows step by step what the gates of a place say about a user.")
    .argument("<user>", 'an email address, a username or an id, or "anonymous"')
    .argument("<place...>", PLACE)
    .action(run(why));
  program
    .command("who")
    .description("Shows which permissions open a place, and which roles have them.")
    .argument("<place...>", PLACE)
    .action(run(who));
}

async function why({ project, words: [name = "", ...place] }: Call<object>): Promise<Result> {
  const entries = await entriesAt(await project.app(), place.join(" "));
  const { traceGate } = await import("../../audit/stand-ins/trace-gate.ts");
  const { answerText } = await import("../../audit/stand-ins/ask-stand-in.ts");
  const user = name === "anonymous" ? null : await findUser(project, name);
  const traces: { kind: string; place: string; trace: Trace }[] = [];
  for (const { kind, place, gate, objects } of entries) {
    traces.push({ kind, place, trace: await traceGate(gate, user) });
    if (objects !== null && objects !== undefined)
      traces.push({ kind: "objects of", place, trace: await traceGate(objects, user) });
  }
  const lines = (trace: Trace, depth: number): readonly string[] => [
    `${"  ".repeat(depth)}${answerText(trace.answer)}: ${trace.gate}`,
    ...trace.parts.flatMap((part) => lines(part, depth + 1)),
  ];
  return {
    data: { user: user?.id ?? null, traces },
    lines: traces.flatMap(({ kind, place, trace }) => [`${kind} ${place}`, ...lines(trace, 1)]),
  };
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
