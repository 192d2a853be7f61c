import type { GateNode } from "../../kernel/access/gate-node.ts";
import { type Answer, askStandIn, isSame } from "./ask-stand-in.ts";

/** Whom a gate lets in, found by asking it about callers who do not exist. */
export interface Access {
  readonly anonymous: Answer;
  /** A signed-in user without any permission. */
  readonly signedIn: Answer;
  /** The permissions that change the result. Several names have an effect only together. */
  readonly grants: readonly { readonly permissions: readonly string[]; readonly answer: Answer }[];
}

/** Asks a gate about an anonymous caller, a user without permissions, and users with the permissions that it asks for. */
export async function accessOf(gate: GateNode | null, model: object | null): Promise<Access> {
  const ask = async (permissions: readonly string[] | null): Promise<Answer> =>
    (await askStandIn(gate, permissions, model)).answer;
  const [anonymous, signedIn, asked] = [await ask(null), await ask([]), await askedBy(gate, model)];
  const grants: { permissions: readonly string[]; answer: Answer }[] = [];
  for (const name of asked) {
    const answer = await ask([name]);
    if (!isSame(answer, signedIn)) grants.push({ permissions: [name], answer });
  }
  const most = await ask(asked);
  if (!isSame(most, signedIn) && !grants.some(({ answer }) => isSame(answer, most)))
    grants.push({ permissions: await fewest(asked, most, ask), answer: most });
  return { anonymous, signedIn, grants };
}

/** The permissions that the gate asks for, also those that it asks for only after others were granted. */
export async function askedBy(gate: GateNode | null, model: object | null): Promise<readonly string[]> {
  let known: readonly string[] = [];
  for (;;) {
    const { permissions } = await askStandIn(gate, known, model);
    const more = [...new Set([...known, ...permissions])].toSorted();
    if (more.length === known.length) return known;
    known = more;
  }
}

/** Leaves out the permissions that make no difference. */
async function fewest(
  all: readonly string[],
  wanted: Answer,
  ask: (permissions: readonly string[]) => Promise<Answer>,
): Promise<readonly string[]> {
  let kept = all;
  for (const name of all) {
    const others = kept.filter((one) => one !== name);
    if (isSame(await ask(others), wanted)) kept = others;
  }
  return kept;
}
