import { describeGate } from "../../kernel/access/describe-gate.ts";
import type { GateNode } from "../../kernel/access/gate-node.ts";
import type { UserProtocol } from "../../kernel/identity/identity.ts";
import { type Answer, answerFor } from "./ask-stand-in.ts";

/** The verdict of a gate about a user, and the verdicts of its parts. */
export interface Trace {
  readonly gate: string;
  readonly answer: Answer;
  readonly parts: readonly Trace[];
}

/** Asks a gate and each of its parts about a user; `null` asks about an anonymous caller. */
export async function traceGate(gate: GateNode | null, caller: UserProtocol | null): Promise<Trace> {
  const parts: Trace[] = [];
  for (const part of partsOf(gate)) parts.push(await traceGate(part, caller));
  return { gate: wordsOf(gate), answer: await answerFor(gate, caller), parts };
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
