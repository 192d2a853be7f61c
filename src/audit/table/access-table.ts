import { describeGate } from "../../kernel/access/describe-gate.ts";
import { allGates, type GateNode, ruleIn } from "../../kernel/access/gate-node.ts";
import type { PorticoApp } from "../../portico-app.ts";
import { accessOf } from "../stand-ins/access-of.ts";
import { answerText, askStandIn } from "../stand-ins/ask-stand-in.ts";
import { type AccessEntry, type EntryKind, entryKinds } from "../surface/access-entry.ts";
import { surfaceOf } from "../surface/surface-of.ts";

/** One line of the access table. */
export interface AccessRow {
  readonly kind: EntryKind;
  readonly place: string;
  /** Whether Portico declared the place, such as a route of accounts. */
  readonly isBuiltIn: boolean;
  /** Whether a caller changes something there: a mutation, or a route with a method other than `GET`. */
  readonly isWrite: boolean;
  /** The gate in words. The objects that a field returns may have another one. */
  readonly gate: string;
  /** Whom the rule of the place lets in, in words; `null` without a rule that says so. */
  readonly says: string | null;
  /** The result for an anonymous caller. */
  readonly anonymous: string;
  /** The result for a signed-in user without any permission. */
  readonly signedIn: string;
  /** The results with the permissions that change it: `read:orders: yes`. */
  readonly grants: readonly string[];
  /** The results for the roles of the configuration. */
  readonly roles: Readonly<Record<string, string>>;
}

/** The access table of an application: who gets what at each place, by kind and name. */
export async function accessTable(
  app: PorticoApp,
  model: object | null,
  roles: readonly RoleGrants[] = [],
): Promise<readonly AccessRow[]> {
  const rows = await Promise.all((await surfaceOf(app)).map((entry) => accessRow(entry, model, roles)));
  return rows.toSorted(
    (a, b) => entryKinds.indexOf(a.kind) - entryKinds.indexOf(b.kind) || (a.place < b.place ? -1 : 1),
  );
}

/** The line of one place. */
export async function accessRow(
  entry: AccessEntry,
  model: object | null,
  roles: readonly RoleGrants[] = [],
): Promise<AccessRow> {
  const { kind, place, gate, isBuiltIn = false, isEndpoint = false } = entry;
  const whole = wholeGate(entry);
  const { anonymous, signedIn, grants } = await accessOf(whole, model);
  const byRole = await Promise.all(
    roles.map(async ({ name, permissions }) => {
      return [name, answerText((await askStandIn(whole, permissions, model)).answer)] as const;
    }),
  );
  return {
    kind,
    place,
    isBuiltIn,
    isWrite: kind === "mutation" || (kind === "route" && !isEndpoint && !/^(?:GET|HEAD|OPTIONS) /.test(place)),
    gate: describeGate(gate),
    says: whole === null ? null : (ruleIn(whole)?.says ?? null),
    anonymous: answerText(anonymous),
    signedIn: answerText(signedIn),
    grants: grants.map(({ permissions, answer }) => `${permissions.join(" + ")}: ${answerText(answer)}`),
    roles: Object.fromEntries(byRole),
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
