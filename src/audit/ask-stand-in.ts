import { askGate } from "../http/access/ask-gate.ts";
import { type GateNode, ruleIn, scopesOf } from "../http/access/gate-node.ts";
import { listScopeOf } from "../http/access/list-scope-of.ts";
import type { Verdict } from "../http/access/refusal.ts";
import type { BaseContext } from "../http/context/http-context.ts";
import type { UserProtocol } from "../http/identity/identity.ts";
import { conditionText } from "./condition-text.ts";
import { contextOf, Sightings, standIn } from "./stand-in.ts";

/**
 * The verdict of a gate about a stand-in: `all` and `none` hold for every object and request, and `depends` means that the gate
 * decides by the object or the request. The `where` of a rule names the rows.
 */
export type Answer = "all" | "none" | "depends" | { readonly rows: string };

interface Asked {
  readonly answer: Answer;
  /** The permissions that the gate asked for. */
  readonly permissions: ReadonlySet<string>;
}

/** Asks a gate about a caller with these permissions; `null` asks about an anonymous caller. */
export async function askStandIn(
  gate: GateNode | null,
  permissions: readonly string[] | null,
  model: object | null,
): Promise<Asked> {
  const seen = new Sightings();
  const caller = permissions === null ? null : standIn(permissions, seen, model);
  return { answer: await answerFor(gate, caller, seen), permissions: seen.permissions };
}

/** The verdict of a gate about a caller, as far as it is known without an object and a request. */
export async function answerFor(
  gate: GateNode | null,
  caller: UserProtocol | null,
  seen: Sightings = new Sightings(),
): Promise<Answer> {
  if (gate === null) return "all";
  const ctx = contextOf(caller, scopesOf(gate)[0] ?? "session", seen);
  const verdicts: Verdict[] = [];
  for (const subject of [seen.strange, seen.empty]) {
    const place = (): object => ({ parent: subject, args: subject, path: subject, request: seen.elsewhere, ctx });
    const verdict = await askGate(gate, { ctx, subject, place, isAboutSubject: false, verdicts: null });
    if (!seen.hasLookedElsewhere && (verdict === true || !verdict.isUnknown)) return verdict === true ? "all" : "none";
    verdicts.push(verdict);
  }
  // A gate that allows an object without values, and one that is not the caller's, allows any.
  return verdicts.every((verdict) => verdict === true) ? "all" : rowsOf(gate, ctx);
}

/** The rows that a rule selects. */
async function rowsOf(gate: GateNode, ctx: BaseContext): Promise<Answer> {
  if (ruleIn(gate) === null) return "depends";
  try {
    const { condition } = await listScopeOf(gate, ctx);
    if (condition === null) return "depends";
    const { kind } = condition["~condition"];
    if (kind === "always" || kind === "never") return kind === "always" ? "all" : "none";
    return { rows: conditionText(condition["~condition"], ctx.user.identity) };
  } catch {
    return "depends";
  }
}

/** The verdict in a word, or the rows that it selects. */
export function answerText(answer: Answer): string {
  if (typeof answer === "object") return answer.rows;
  return answer === "all" ? "yes" : answer === "none" ? "no" : "depends";
}
