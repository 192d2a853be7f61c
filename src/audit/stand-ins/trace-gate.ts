import { describeGate } from "../../kernel/access/describe-gate.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import type { UserProtocol } from "../../kernel/identity/identity.ts";
import { type Answer, answersBySignIn, wholeOf } from "./ask-stand-in.ts";
import { CREDENTIALS, type KnownCredential } from "./sign-in.ts";
import { signInLines } from "./sign-in-lines.ts";

/** The verdict of a gate about a user, and the verdicts of its parts. */
export interface Trace {
  readonly gate: string;
  readonly answer: Answer;
  /** The results by the way to sign in; empty if it makes no difference. */
  readonly signIns: readonly string[];
  readonly parts: readonly Trace[];
}

/**
 * Asks a gate and each of its parts about a user; `null` asks about an anonymous caller.
 *
 * @param credentials the levels and ages that a sign-in of the user can have
 */
export async function traceGate(
  gate: GateNode | null,
  caller: UserProtocol | null,
  credentials: readonly KnownCredential[] = CREDENTIALS,
): Promise<Trace> {
  const parts: Trace[] = [];
  for (const part of partsOf(gate)) parts.push(await traceGate(part, caller, credentials));
  const answers = await answersBySignIn(gate, caller, { credentials });
  return { gate: wordsOf(gate), answer: wholeOf(answers), signIns: signInLines(answers), parts };
}

function partsOf(gate: GateNode | null): readonly GateNode[] {
  if (gate?.kind === "every" || gate?.kind === "some") return gate.of;
  return gate?.kind === "not" ? [gate.of] : [];
}

function wordsOf(gate: GateNode | null): string {
  if (gate?.kind === "every") return "all of these";
  if (gate?.kind === "some") return "one of these";
  return gate?.kind === "not" ? "not this" : describeGate(gate);
}
