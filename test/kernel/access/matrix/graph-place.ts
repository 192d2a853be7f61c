import type { Form } from "./forms.ts";
import { type Operation, operate } from "./graph-operation.ts";
import type { Owner, Verdict } from "./model.ts";
import type { Place, Sight, Transport, View } from "./place.ts";
import { canaryOf, OWNERS } from "./probe.ts";

const OVER: Readonly<Record<Operation["type"], readonly Transport[]>> = {
  query: ["post", "get", "batch", "multipart", "websocket", "sse"],
  mutation: ["post", "batch", "multipart", "websocket", "sse"],
  subscription: ["websocket", "sse"],
};

/** The transports of a place that varies another one: transports do not differ in how they resolve a field. */
const VARIED: typeof OVER = { query: ["inject"], mutation: ["inject"], subscription: ["websocket"] };

/** A place in the schema. */
export interface GraphPlace {
  readonly name: string;
  readonly hasObject: boolean;
  readonly isList?: true;
  /** Whether it varies another place, whose cells cover all transports. */
  readonly isVariant?: true;
  readonly type: Operation["type"];
  /** @default "/graphql" */
  readonly path?: string;
  readonly declare: Place["declare"];
  readonly selection: (owner: Owner) => string;
  readonly expected: (view: View) => Sight;
  readonly inEffect?: (form: Form) => Form;
  readonly drops?: true;
}

export function graphPlace({ type, selection, expected, isVariant, path = "/graphql", ...others }: GraphPlace): Place {
  return {
    ...others,
    transports: isVariant === true ? VARIED[type] : OVER[type],
    visit: (visit) => operate(visit, path, { type, selection: selection(visit.owner) }),
    expected: (view) => overSocket(view) ?? expected(view),
  };
}

/** A GraphQL socket is not opened with a credential that is invalid or could not be checked. */
export function overSocket({ transport, identity }: View): Sight | null {
  if (transport !== "websocket" || identity.socketStatus === null) return null;
  return { shown: `upgrade rejected with ${identity.socketStatus}`, revealed: [] };
}

/** The result of a query with one root field. */
export function resultOf(key: string, value: unknown, errors: readonly string[] = []): readonly object[] {
  return [{ data: { [key]: value }, ...(errors.length === 0 ? {} : { errors }) }];
}

/** A field with a gate: its value, or null with an error. `around` puts the field into its parent. */
export function gatedField(
  path: string,
  around: (value: unknown) => unknown = (value) => value,
  wrap: (text: string) => unknown = (text) => text,
): (view: View) => Sight {
  const [root = ""] = path.split(".");
  return ({ verdict, owner }) => {
    const found = verdict(owner);
    if (found.is === "allowed") return { shown: resultOf(root, around(wrap(canaryOf(owner)))), revealed: [owner] };
    return { shown: resultOf(root, around(null), [`${path} ${found.code}`]), revealed: [] };
  };
}

/** The guarded object of an owner, as it is selected. */
export const SELECTED = "{ secret plain }";
export const selectedOf = (owner: Owner): object => ({ secret: canaryOf(owner), plain: canaryOf(owner) });

/** An object of a type with a gate: absent if it is denied, and an error if the verdict is unknown. */
export function gatedObject(
  path: string,
  around: (value: unknown) => unknown = (value) => value,
): (view: View) => Sight {
  const [root = ""] = path.split(".");
  return ({ verdict, owner }) => {
    const found = verdict(owner);
    if (found.is === "allowed") return { shown: resultOf(root, around(selectedOf(owner))), revealed: [owner] };
    const errors = found.is === "unknown" ? [`${path} ${found.code}`] : [];
    return { shown: resultOf(root, around(null), errors), revealed: [] };
  };
}

/** A list of all objects of a type with a gate: it has those that are allowed, or is an error if one is unknown. */
export function gatedList(
  root: string,
  around: (items: readonly object[]) => unknown = (items) => items,
): (view: View) => Sight {
  return (view) => {
    const unknown = firstUnknown(view);
    if (unknown !== null) return { shown: resultOf(root, null, [`${root} ${unknown}`]), revealed: [] };
    const revealed = OWNERS.filter((owner) => view.verdict(owner).is === "allowed");
    return { shown: resultOf(root, around(revealed.map(selectedOf))), revealed };
  };
}

/** The code of the first object whose verdict is unknown. */
export function firstUnknown({ verdict }: View): string | null {
  const found = OWNERS.map(verdict).find(({ is }) => is === "unknown");
  return (found as Extract<Verdict, { is: "unknown" }> | undefined)?.code ?? null;
}
