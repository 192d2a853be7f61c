import { reachLists } from "../../../audit/lists/reach-lists.ts";
import { isProduction } from "../../../core/env.ts";
import type { UserProtocol } from "../../../kernel/identity/identity.ts";
import { examineLists, type PlacePlans } from "../../../sql/plans/examine-lists.ts";
import { actingAs } from "../../../testing/acting-as.ts";
import { CommandFailed } from "../../output/command-failed.ts";
import { countText } from "../../output/count-text.ts";
import type { Result } from "../../output/result.ts";
import { findUser } from "../../project/find-user.ts";
import type { Project } from "../../project/project.ts";
import type { Call } from "../runner.ts";
import type { PlansFlags } from "./plans-command.ts";

/** Reads every declared list of the application, and lets its database explain their pages. */
export async function explainApplication({ project, options }: Call<PlansFlags>): Promise<Result> {
  if (isProduction())
    throw new CommandFailed("portico plans acts as a user without signing in, so NODE_ENV must not be production");
  const app = await project.app();
  // The result alone is printed.
  (app.log as { level: string }).level = "silent";
  const database = await project.database();
  const user = options.as === undefined ? await anyUser(project) : await findUser(project, options.as);
  const { lists, unreached, declared } = await reachLists(app, actingAs(app, user));
  const { plans, unchecked } = await examineLists(database, lists);
  const faults = plans.reduce((sum, { faults: found }) => sum + found.length, 0);
  const blind: readonly Unchecked[] = [
    ...plans.flatMap(({ place, gaps }) => gaps.map((reason) => ({ place, reason }))),
    ...unchecked.map(({ place, reason }) => ({ place, reason })),
    ...unreached,
    ...(declared === 0 ? [NO_LISTS] : []),
  ];
  return {
    // The command reads pages and no totals, so it says nothing about counts.
    data: { lists: plans.map(({ counts: _counts, ...pages }) => pages), unchecked: blind },
    lines: [...plans.flatMap(planLines), ...blind.map(uncheckedLine), summary(plans, faults, blind.length)],
    code: faults > 0 || (options.check === true && blind.length > 0) ? 1 : 0,
  };
}

/** A list whose plans are unknown. */
interface Unchecked {
  readonly place: string;
  readonly reason: string;
}

const NO_LISTS: Unchecked = {
  place: "the application",
  reason: "it declares no list: routes need the option paginated, and fields a connection",
};

/** A user who does not exist and has every permission, with the methods of the application's class. */
async function anyUser(project: Project): Promise<UserProtocol> {
  const { users = null } = await project.config();
  const { Sightings } = await import("../../../audit/stand-ins/sightings.ts");
  const { standIn } = await import("../../../audit/stand-ins/stand-in.ts");
  return standIn(() => true, new Sightings(), users);
}

function planLines({ place, pages, faults, gaps }: PlacePlans): readonly string[] {
  const lines = faults.map(({ problem, page, order, index }) => {
    const fix = index ?? "no index of one table can serve this order";
    return `${place} ${problem} (${page}, ordered by ${order}): ${fix}`;
  });
  return lines.length + gaps.length > 0 ? lines : [`${place}: ok, ${pages} pages`];
}

function uncheckedLine({ place, reason }: Unchecked): string {
  return `${place}: not checked (${reason})`;
}

function summary(plans: readonly PlacePlans[], faults: number, unchecked: number): string {
  const missing = `${faults} missing ${faults === 1 ? "index" : "indexes"}`;
  return `plans: ${countText(plans.length, "list")}, ${missing}, ${unchecked} not checked`;
}
