import { defaultFieldResolver, type GraphQLFieldResolver } from "graphql";
import { columnsRead, type GateNode } from "../../../kernel/access/gate-node.ts";
import type { FieldDeclaration, Reads } from "./field-declaration.ts";

// The key is the resolver, because another tool may replace it by one that reads more.
const byResolver = new WeakMap<object, readonly string[]>();

const byProperty = new WeakMap<object, string>();

interface ResolvedField {
  readonly name: string;
  readonly resolve?: GraphQLFieldResolver<any, any> | undefined;
}

/** Notes the columns that a resolver reads. */
export function noteReads<R extends object>(resolve: R, reads: Reads): R {
  if (reads !== null) byResolver.set(resolve, reads);
  return resolve;
}

/** Notes that a resolver returns a property of the object as it is. */
export function noteProperty<R extends object>(resolve: R, property: string | null): R {
  if (property !== null) byProperty.set(resolve, property);
  return resolve;
}

/** The property that a field of a built schema returns as it is; `null` if a resolver decides. */
export function propertyOf({ name, resolve }: ResolvedField): string | null {
  if (resolve === undefined || resolve === defaultFieldResolver) return name;
  return byProperty.get(resolve) ?? null;
}

/** The columns that a field of a built schema reads. */
export function readsOf({ name, resolve }: ResolvedField): Reads {
  if (resolve === undefined || resolve === defaultFieldResolver) return [name];
  return byResolver.get(resolve) ?? null;
}

/** Notes that a wrapper around the resolver of a field reads nothing more, and returns the same. */
export function withReadsOf<R extends object>(field: ResolvedField, wrapper: R): R {
  return noteProperty(noteReads(wrapper, readsOf(field)), propertyOf(field));
}

/** All of these columns. */
export function allReads(parts: readonly Reads[]): Reads {
  return parts.includes(null) ? null : [...new Set((parts as readonly (readonly string[])[]).flat())];
}

/** The columns that gates read. `reads` are those that the field declares for itself and its gates. */
export function gateReads(gates: readonly GateNode[], reads?: readonly string[]): Reads {
  return allReads(gates.map((gate) => columnsRead(gate) ?? reads ?? null));
}

/** The columns that a declared field reads, with its gates. */
export function fieldReads(field: FieldDeclaration, property: string): Reads {
  return allReads([ownReads(field, property), field.gateReads]);
}

function ownReads(
  { options: { reads }, parentReads, resolver, member, keys }: FieldDeclaration,
  property: string,
): Reads {
  if (parentReads !== undefined) return parentReads;
  if (resolver === null) return [property, ...(reads ?? [])];
  if (reads !== undefined) return reads;
  // A resolver receives only the names that it destructures, but a method has `this`.
  const isBlind = member === null && keys !== null && !PARENT_NAMES.some((name) => keys.has(name));
  return isBlind ? [] : null;
}

const PARENT_NAMES = ["parent", "root", "self"] as const;
