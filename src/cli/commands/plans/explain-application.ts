import type { ReachedLists } from "../../../audit/lists/reach-lists.ts";
import { reachLists } from "../../../audit/lists/reach-lists.ts";
import { isProduction } from "../../../core/env.ts";
import type { UserProtocol } from "../../../kernel/identity/identity.ts";
import { examineLists, type PlacePlans } from "../../../sql/plans/examine-lists.ts";
import { actingAs } from "../../../testing/acting-as.ts";
import { CommandFailed } from "../../output/command-failed.ts";
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
  const { lists, unreached } = await reachLists(app, actingAs(app, user));
  const plans = await examineLists(database, lists);
  const faults = plans.reduce((sum, { faults: found }) => sum + found.length, 0);
  return {
    // The command reads pages and no totals, so it says nothing about counts.
    data: { lists: plans.map(({ counts: _counts, ...pages }) => pages), unreached },
    lines: [...plans.flatMap(planLines), ...unreachedLines(unreached), summary(plans, faults, unreached.length)],
    code: faults > 0 ? 1 : 0,
  };
}

/** A user who does not exist and has every permission, with the methods of the application's class. */
async function anyUser(project: Project): Promise<UserProtocol> {
  const { users = null } = await project.config();
  const { Sightings } = await import("../../../audit/stand-ins/sightings.ts");
  const { standIn } = await import("../../../audit/stand-ins/stand-in.ts");
  return standIn(() => true, new Sightings(), users);
}

function planLines({ place, pages, faults, gaps }: PlacePlans): readonly string[] {
  const lines = [
    ...faults.map(({ problem, page, order, index }) => {
      const fix = index ?? "no index of one table can serve this order";
      return `${place} ${problem} (${page}, ordered by ${order}): ${fix}`;
    }),
    ...gaps.map((gap) => `${place}: ${gap}`),
  ];
  return lines.length > 0 ? lines : [`${place}: ok, ${pages} pages`];
}

function unreachedLines(unreached: ReachedLists["unreached"]): readonly string[] {
  return unreached.map(({ place, reason }) => `${place}: not reached (${reason})`);
}

function summary(plans: readonly PlacePlans[], faults: number, unreached: number): string {
  const missing = `${faults} missing ${faults === 1 ? "index" : "indexes"}`;
  return `plans: ${plans.length} lists, ${missing}${unreached === 0 ? "" : `, ${unreached} not reached`}`;
}
