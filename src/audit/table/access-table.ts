import { describeGate } from "../../kernel/access/describe-gate.ts";
import { allGates, type GateNode } from "../../kernel/access/gate-node.ts";
import type { PorticoApp } from "../../portico-app.ts";
import { accessOf } from "../stand-ins/access-of.ts";
import { answerText, askStandIn } from "../stand-ins/ask-stand-in.ts";
import { type AccessEntry, type EntryKind, entryKinds } from "../surface/access-entry.ts";
import { surfaceOf } from "../surface/surface-of.ts";

/** One line of the access table. */
export interface AccessRow {
  readonly kind: EntryKind;
  readonly place: string;
  /** The gate in words. The objects that a field returns may have another one. */
  readonly gate: string;
  /** The result for an anonymous caller. */
  readonly anonymous: string;
  /** The result for a signed-in user without any permission. */
  readonly signedIn: string;
  /** The results with the permissions that change it: `read:orders: yes`. */
  readonly grants: readonly string[];
}

/** The access table of an application: who gets what at each place, by kind and name. */
export async function accessTable(app: PorticoApp, model: object | null): Promise<readonly AccessRow[]> {
  const rows = await Promise.all((await surfaceOf(app)).map((entry) => accessRow(entry, model)));
  return rows.toSorted(
    (a, b) => entryKinds.indexOf(a.kind) - entryKinds.indexOf(b.kind) || (a.place < b.place ? -1 : 1),
  );
}

/** The line of one place. */
export async function accessRow(entry: AccessEntry, model: object | null): Promise<AccessRow> {
  const { kind, place, gate } = entry;
  const { anonymous, signedIn, grants } = await accessOf(wholeGate(entry), model);
  return {
    kind,
    place,
    gate: describeGate(gate),
    anonymous: answerText(anonymous),
    signedIn: answerText(signedIn),
    grants: grants.map(({ permissions, answer }) => `${permissions.join(" + ")}: ${answerText(answer)}`),
  };
}

/** A role and its permissions. */
export interface RoleGrants {
  readonly name: string;
  readonly permissions: readonly string[];
}

/** The roles that change the result at a place, each with its result. */
export async function roleAccess(
  entry: AccessEntry,
  roles: readonly RoleGrants[],
  model: object | null,
): Promise<readonly { readonly role: string; readonly access: string }[]> {
  const ask = async (permissions: readonly string[]): Promise<string> =>
    answerText((await askStandIn(wholeGate(entry), permissions, model)).answer);
  const without = await ask([]);
  const found = await Promise.all(
    roles.map(async ({ name, permissions }) => ({ role: name, access: await ask(permissions) })),
  );
  return found.filter(({ access }) => access !== without);
}

/** The gate of a place, and that of the objects that it returns. */
function wholeGate({ gate, objects }: AccessEntry): GateNode | null {
  return allGates([gate, objects].filter((one) => one !== null && one !== undefined));
}
