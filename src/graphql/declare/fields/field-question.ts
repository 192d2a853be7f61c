import type { GraphQLResolveInfo } from "graphql";
import { ConfigurationError } from "../../../core/configuration-error.ts";
import { andThen, type MaybePromise } from "../../../core/maybe-promise.ts";
import { askGate } from "../../../kernel/access/ask-gate.ts";
import type { GateNode } from "../../../kernel/access/gate-node.ts";
import type { GateQuestion } from "../../../kernel/access/gate-question.ts";
import { readGate } from "../../../kernel/access/read-gate.ts";
import type { Verdict } from "../../../kernel/access/refusal.ts";
import type { BaseContext } from "../../../kernel/context/http-context.ts";
import { denialFrom } from "../../errors/graphql-denied.ts";
import type { GraphContext } from "../../operation/graph-context.ts";
import { ResolverError } from "../references/resolver-error.ts";
import type { FieldPermission, ResolvedFieldOptions } from "./field-options.ts";

/** The gates of a field, in the order in which they are checked: `auth`, then each entry of `permissionClasses`. */
export function readGates(
  place: string,
  { auth, permissionClasses = [] }: Pick<ResolvedFieldOptions, "auth" | "permissionClasses">,
): readonly GateNode[] {
  const gate = auth === undefined ? null : readGate(place, auth, ResolverError);
  return [
    ...(gate === null ? [] : [gate]),
    ...permissionClasses.map((entry, index) => readPermission(`${place}.permissionClasses[${index}]`, entry)),
  ];
}

const PERMISSIONS = new WeakMap<object, GateNode>();

/**
 * Creates one instance of a class. Rejects an entry without `hasPermission`: ignoring it would leave the field open.
 */
function readPermission(option: string, entry: unknown): GateNode {
  const known = PERMISSIONS.get(entry as object);
  if (known !== undefined) return known;
  const permission = typeof entry === "function" ? instanceOf(option, entry as new () => unknown) : entry;
  if (typeof (permission as Partial<FieldPermission> | null | undefined)?.hasPermission !== "function")
    throw new ConfigurationError(
      option,
      "a class with the method hasPermission(source, info), or an instance of one",
      entry,
    );
  const { name } = (permission as object).constructor;
  const node: GateNode = {
    kind: "place",
    name,
    decide: (question) => {
      const { subject, info } = question as FieldQuestion;
      return (permission as FieldPermission).hasPermission(subject, info);
    },
  };
  PERMISSIONS.set(entry as object, node);
  return node;
}

function instanceOf(option: string, entry: new () => unknown): unknown {
  try {
    return new entry();
  } catch (cause) {
    throw new ResolverError(option, "could not construct the class without arguments: pass an instance instead", {
      cause,
    });
  }
}

/** One call of a field, about which its gates decide. */
export class FieldQuestion implements GateQuestion {
  readonly verdicts: GraphContext;
  readonly subject: unknown;
  readonly isAboutSubject: boolean;
  readonly info: GraphQLResolveInfo;
  readonly #args: () => unknown;

  /** @param args the arguments of the call; `null` if the field has none */
  constructor(graph: GraphContext, parent: unknown, args: (() => unknown) | null, info: GraphQLResolveInfo) {
    this.verdicts = graph;
    this.subject = parent;
    this.isAboutSubject = args === null;
    this.info = info;
    this.#args = args ?? noArgs;
  }
  get ctx(): BaseContext {
    return this.verdicts.connection;
  }
  place(): object {
    return { parent: this.subject, args: this.#args(), ctx: this.ctx };
  }
}

const noArgs = (): object => ({});

/** Returns if the gate allows access, synchronously if it decides so; throws or rejects with the denial otherwise. */
export function passGate(gate: GateNode, question: GateQuestion): MaybePromise<void> {
  // Throws in a shared subscription, where one verdict must not apply to all subscribers.
  void question.ctx.identity;
  const verdict = askGate(gate, question);
  return andThen(verdict, judge);
}

function judge(verdict: Verdict): void {
  if (verdict !== true) throw denialFrom(verdict.error);
}

/**
 * Rechecks the gate of a subscription that is still open. Returns the denial, or `null` while access stays allowed. A
 * gate that fails does not end the subscription, as an outage of the credential store does not revoke credentials.
 */
export async function denialSince(gate: GateNode, question: GateQuestion): Promise<Error | null> {
  const verdict = await askGate(gate, question);
  return verdict === true || verdict.isUnknown ? null : denialFrom(verdict.error);
}
