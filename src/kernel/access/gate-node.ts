import { ConfigurationError } from "../../core/configuration-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { Condition } from "../../pagination/conditions/condition.ts";
import type { BaseContext } from "../context/http-context.ts";
import type { AssuranceLevel } from "../identity/credential.ts";
import type { AuthScope } from "../identity/identity.ts";
import type { GateFunction } from "./gate.ts";
import type { GateQuestion } from "./gate-question.ts";
import type { Verdict } from "./refusal.ts";

/** The parts of a rule, for code that asks it. */
export interface RuleParts {
  readonly name: string;
  /** Whom the rule lets in, in words; `null` if the author wrote none. */
  readonly says: string | null;
  readonly anonymous: boolean;
  readonly allows: (user: any, object: any, place: { readonly ctx: any }) => unknown;
  readonly where: ((user: any) => Condition) | null;
  /** The columns that `allows` reads; `null` if they are unknown. */
  readonly reads: readonly string[] | null;
}

/** A gate in the form that every place asks: all values of `auth` are read to this. */
export type GateNode =
  /** Decides about the caller alone. */
  | {
      readonly kind: "caller";
      readonly required: boolean;
      readonly scopes: readonly AuthScope[];
      readonly needsIdentity: boolean;
      /** Further options of `useAuth()`; `null` for a check that the application wrote. */
      readonly requires: {
        readonly permissions: readonly string[];
        readonly freshSeconds: number | undefined;
        readonly level: AssuranceLevel | undefined;
      } | null;
      judge(ctx: BaseContext): MaybePromise<Verdict>;
    }
  /** Called for signed-in users. Without a second parameter it decides about the caller alone. */
  | { readonly kind: "function"; readonly decide: GateFunction; readonly takesPlace: boolean }
  /** Called for every caller, anonymous ones too, with everything about the place. */
  | { readonly kind: "place"; readonly name: string; decide(question: GateQuestion): unknown }
  | { readonly kind: "rule"; readonly rule: RuleParts }
  | { readonly kind: "every"; readonly of: readonly GateNode[] }
  | { readonly kind: "some"; readonly of: readonly GateNode[] }
  | { readonly kind: "not"; readonly of: GateNode };

/** Whether every caller that the gate accepts is signed in. */
export function isRequired(node: GateNode): boolean {
  switch (node.kind) {
    case "caller":
      return node.required;
    case "function":
      return true;
    case "rule":
      return !node.rule.anonymous;
    case "every":
      return node.of.some(isRequired);
    case "some":
      return node.of.every(isRequired);
    case "place":
    case "not":
      return false;
  }
}

/** Whether the gate never opens while the application has no authentication. */
export function needsIdentity(node: GateNode): boolean {
  if (node.kind === "caller") return node.needsIdentity;
  if (node.kind === "every") return node.of.some(needsIdentity);
  return node.kind === "some" ? node.of.every(needsIdentity) : isRequired(node);
}

/** The sign-in methods that the gate accepts. An empty list accepts any. */
export function scopesOf(node: GateNode): readonly AuthScope[] {
  if (node.kind === "caller") return node.scopes;
  if (node.kind === "some") {
    const lists = node.of.map(scopesOf);
    return lists.some((list) => list.length === 0) ? [] : [...new Set(lists.flat())];
  }
  return node.kind === "every" ? commonScopes(scopeLists(node.of)) : [];
}

/**
 * Rejects gates that no caller can pass together, because each sign-in method is missing in the list of one of them. Their
 * common scopes would be an empty list, which accepts any.
 */
export function checkScopes(place: string, problem: string, nodes: readonly GateNode[]): void {
  const lists = scopeLists(nodes);
  if (lists.length === 0 || commonScopes(lists).length > 0) return;
  const names = lists.map((list) => list.map((scope) => JSON.stringify(scope)).join(", ")).join("; ");
  throw new ConfigurationError(
    place,
    `${problem}: a caller has one scope, and no scope is accepted by all of its gates (${names})`,
  );
}

/** The scopes of each gate that accepts only some. */
function scopeLists(nodes: readonly GateNode[]): readonly (readonly AuthScope[])[] {
  return nodes.map(scopesOf).filter((list) => list.length > 0);
}

function commonScopes([first, ...others]: readonly (readonly AuthScope[])[]): readonly AuthScope[] {
  return first?.filter((scope) => others.every((list) => list.includes(scope))) ?? [];
}

/** The first rule in the gate, which needs an object to decide about. */
export function ruleIn(node: GateNode): RuleParts | null {
  if (node.kind === "rule") return node.rule;
  if (node.kind === "not") return ruleIn(node.of);
  if (node.kind !== "every" && node.kind !== "some") return null;
  return node.of.map(ruleIn).find((found) => found !== null) ?? null;
}

/** Whether a database can decide by columns alone: every rule in the gate has a `where`. */
export function decidesByColumns(node: GateNode): boolean {
  if (node.kind === "rule") return node.rule.where !== null;
  if (node.kind === "not") return decidesByColumns(node.of);
  if (node.kind === "every" || node.kind === "some") return node.of.every(decidesByColumns);
  return decidesByCaller(node);
}

/** Whether the gate is a condition on columns for every user, also for one without a request. */
export function isMadeOfConditions(node: GateNode): boolean {
  if (node.kind === "every" || node.kind === "some") return node.of.every(isMadeOfConditions);
  if (node.kind === "not") return isMadeOfConditions(node.of);
  if (node.kind !== "caller") return node.kind === "rule" ? node.rule.where !== null : decidesByCaller(node);
  // The sign-in method, its time and its level are those of a request.
  const { requires, scopes } = node;
  return (
    requires !== null && scopes.length === 0 && requires.freshSeconds === undefined && requires.level === undefined
  );
}

/** Whether the gate decides about the caller alone, so that it needs no object. */
export function decidesByCaller(node: GateNode): boolean {
  if (node.kind === "every" || node.kind === "some") return node.of.every(decidesByCaller);
  if (node.kind === "not") return decidesByCaller(node.of);
  return node.kind === "caller" || (node.kind === "function" && !node.takesPlace);
}

/** Whether a part of the gate receives the request: a function with a second parameter, or a check of the application. */
export function readsRequest(node: GateNode): boolean {
  if (node.kind === "every" || node.kind === "some") return node.of.some(readsRequest);
  if (node.kind === "not") return readsRequest(node.of);
  return node.kind === "caller" ? node.requires === null : !decidesByCaller(node);
}

/** The columns of the object that the gate reads; `null` if they are unknown. */
export function columnsRead(node: GateNode): readonly string[] | null {
  switch (node.kind) {
    case "rule":
      return node.rule.reads;
    case "not":
      return columnsRead(node.of);
    case "every":
    case "some": {
      const read = node.of.map(columnsRead);
      return read.includes(null) ? null : (read as string[][]).flat();
    }
    case "place":
    case "function":
    case "caller":
      return decidesByCaller(node) ? [] : null;
  }
}

/** The name of the gate in logs, and in the scope of cursors. */
export function nameOf(node: GateNode): string {
  switch (node.kind) {
    case "caller":
      return "auth";
    case "function":
      return node.decide.name === "" ? "auth" : node.decide.name;
    case "place":
      return node.name;
    case "rule":
      return node.rule.name;
    case "not":
      return `not(${nameOf(node.of)})`;
    case "every":
    case "some":
      return `${node.kind}(${node.of.map(nameOf).join(", ")})`;
  }
}

/** One gate that opens if all of these do. */
export function allGates(nodes: readonly GateNode[]): GateNode | null {
  const [only] = nodes;
  if (only === undefined) return null;
  return nodes.length === 1 ? only : { kind: "every", of: nodes };
}
