import { orElse } from "../../core/maybe-promise.ts";
import { askGate } from "../../kernel/access/ask-gate.ts";
import { decidesByCaller, type GateNode, ruleIn } from "../../kernel/access/gate-node.ts";
import { listScopeOf } from "../../kernel/access/list-scope-of.ts";
import type { Verdict } from "../../kernel/access/refusal.ts";
import { withContext } from "../../kernel/context/current-context.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import type { AuthScope, UserProtocol } from "../../kernel/identity/identity.ts";
import type { ConditionNode } from "../../pagination/conditions/condition.ts";
import { meets } from "../../pagination/filter/meets.ts";
import type { ListScope } from "../../pagination/handlers/list-scope.ts";
import { conditionText } from "./condition-text.ts";
import { Sightings, STAND_IN_ID } from "./sightings.ts";
import { CREDENTIALS, type KnownCredential, scopesFor } from "./sign-in.ts";
import { contextOf, standIn } from "./stand-in.ts";

/**
 * The verdict of a gate about a caller: `all` and `none` hold for every object, request and sign-in, and `depends` means that
 * the gate decides by one of them. The `where` of a rule names the rows.
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
  const caller = permissions === null ? null : standIn((name) => permissions.includes(name), seen, model);
  return { answer: await answerFor(gate, caller, seen), permissions: seen.permissions };
}

/** The verdict of a gate about a caller, as far as it is known without an object, a request and a sign-in. */
export async function answerFor(
  gate: GateNode | null,
  caller: UserProtocol | null,
  seen: Sightings = new Sightings(),
): Promise<Answer> {
  return wholeOf(await answersBySignIn(gate, caller, { seen }));
}

/** The verdict after one way to sign in. */
export interface SignInAnswer {
  /** `null` stands for every method. */
  readonly scope: AuthScope | null;
  /** `null` stands for every level and age. */
  readonly credential: KnownCredential | null;
  readonly answer: Answer;
}

interface SignInQuestion {
  readonly seen?: Sightings;
  /** The levels and ages that a sign-in of the caller can have. */
  readonly credentials?: readonly KnownCredential[];
}

/**
 * The verdicts of a gate about a caller by the method, the level and the age of the sign-in, as far as the gate looks at them.
 */
export async function answersBySignIn(
  gate: GateNode | null,
  caller: UserProtocol | null,
  { seen = new Sightings(), credentials = CREDENTIALS }: SignInQuestion = {},
): Promise<readonly SignInAnswer[]> {
  if (gate === null) return [{ scope: null, credential: null, answer: "all" }];
  const answers: SignInAnswer[] = [];
  for (const scope of scopesFor(gate)) {
    seen.hasReadCredential = false;
    for (const credential of credentials) {
      const ctx = contextOf(caller, { scope, credential: credential.facts }, seen);
      const answer = await withContext(ctx, () => wholeAnswer(gate, ctx, seen));
      // A gate that did not look at the credential, or the method, decides alike about all.
      answers.push({
        scope: seen.hasReadMethod ? scope : null,
        credential: seen.hasReadCredential ? credential : null,
        answer,
      });
      if (!seen.hasReadCredential) break;
    }
    if (!seen.hasReadMethod) break;
  }
  return answers;
}

/** The verdict that holds for all of these sign-ins. */
export function wholeOf(answers: readonly SignInAnswer[]): Answer {
  return answers.map(({ answer }) => answer).reduce((one, other) => (isSame(one, other) ? one : "depends"));
}

async function wholeAnswer(gate: GateNode, ctx: BaseContext, seen: Sightings): Promise<Answer> {
  const answer = await answerOf(gate, ctx, seen);
  return answer === "depends" ? rowsOf(gate, ctx, seen) : answer;
}

/** Asks the parts of a gate, and none after one that decides alone, as `askGate` does. */
async function answerOf(gate: GateNode, ctx: BaseContext, seen: Sightings): Promise<Known> {
  if (gate.kind === "not") return OPPOSITE[await answerOf(gate.of, ctx, seen)];
  if (gate.kind !== "every" && gate.kind !== "some") return answerOfPart(gate, ctx, seen);
  const [decisive, otherwise] = gate.kind === "every" ? (["none", "all"] as const) : (["all", "none"] as const);
  let answer: Known = otherwise;
  for (const part of gate.of) {
    const found = await answerOf(part, ctx, seen);
    if (found === decisive) return decisive;
    if (found === "depends") answer = "depends";
  }
  return answer;
}

type Known = "all" | "none" | "depends";

const OPPOSITE: Readonly<Record<Known, Known>> = { all: "none", none: "all", depends: "depends" };

/** Asks one part about several objects. Only a verdict that it gave about all of them, without looking at one, is certain. */
async function answerOfPart(gate: GateNode, ctx: BaseContext, seen: Sightings): Promise<Known> {
  seen.hasLookedElsewhere = false;
  seen.hasReadName = false;
  const ask = async (member: () => unknown): Promise<Verdict> => {
    const members = { parent: member(), args: member(), path: member(), query: member(), request: seen.elsewhere, ctx };
    const place = (): object => seen.object(members, () => undefined);
    const question = {
      ctx,
      subject: members.parent,
      info: seen.elsewhere,
      place,
      isAboutSubject: false,
      verdicts: null,
    };
    return askGate(gate, question);
  };
  const first = await ask(() => seen.strange());
  // It asks for other permissions about an object without values.
  const second = seen.hasLookedElsewhere ? await ask(() => seen.empty()) : first;
  if (seen.hasLookedElsewhere || seen.hasReadName || isUnknown(first) || isUnknown(second)) return "depends";
  // A comparison with the object itself cannot be noticed.
  for (const object of decidesByCaller(gate) ? [] : [undefined, STAND_IN_ID, ctx.user]) {
    const verdict = await ask(() => object);
    if (isUnknown(verdict) || (verdict === true) !== (first === true)) return "depends";
  }
  return first === true ? "all" : "none";
}

const isUnknown = (verdict: Verdict): boolean => verdict !== true && verdict.isUnknown;

/** The rows that a rule selects, unless its `allows` was seen to allow more than its `where` selects. */
async function rowsOf(gate: GateNode, ctx: BaseContext, seen: Sightings): Promise<Answer> {
  if (ruleIn(gate) === null) return "depends";
  seen.hasLookedElsewhere = false;
  seen.hasReadName = false;
  try {
    const scope = await listScopeOf(gate, ctx);
    const node = scope.condition?.["~condition"];
    if (node === undefined || seen.hasLookedElsewhere) return "depends";
    const isByName = seen.hasReadName;
    if (node.kind === "always" || node.kind === "never")
      return isByName ? "depends" : node.kind === "always" ? "all" : "none";
    if (await allowsMore(scope, node, seen)) return "depends";
    return { rows: conditionText(node, ctx.user.identity) };
  } catch {
    return "depends";
  }
}

/** Whether `allows` allows an object that is not the caller's, and one without values, of which `where` leaves one out. */
async function allowsMore(scope: ListScope, node: ConditionNode, seen: Sightings): Promise<boolean> {
  const objects = [seen.strange(), seen.empty()];
  const allowed = await Promise.resolve(
    orElse(
      () => scope.allows(objects),
      () => [],
    ),
  );
  if (allowed.length === 0 || allowed.includes(false)) return false;
  try {
    return !objects.every((object) => meets(node, object));
  } catch {
    // The condition is about another table, which has no row for these objects.
    return true;
  }
}

/** Whether two answers say the same. */
export function isSame(a: Answer, b: Answer): boolean {
  return typeof a === "object" && typeof b === "object" ? a.rows === b.rows : a === b;
}

/** The verdict in a word, or the rows that it selects. */
export function answerText(answer: Answer): string {
  if (typeof answer === "object") return answer.rows;
  return answer === "all" ? "yes" : answer === "none" ? "no" : "depends";
}
