import { hash } from "node:crypto";
import type { Identity } from "../identity/identity.ts";

/**
 * Returns a digest of everything that decides what a caller may do, as far as the identity shows it: how it signed in, the
 * permissions of its credential, and the texts, flags and lists of its user object, such as roles and memberships. Numbers and
 * dates, such as a balance or the last visit, change by themselves.
 */
export function grantsDigest({ user, auth, credential }: Identity): string {
  const { permissions, level, impersonator } = credential ?? {};
  const facts = Object.entries(user).flatMap(([name, value]) => {
    const fact = factOf(value);
    return fact === undefined ? [] : [[name, fact]];
  });
  const grants = [auth, permissions?.toSorted(), level, impersonator, facts.toSorted(byText)];
  return hash("sha256", JSON.stringify(grants), "base64");
}

/** The order of a list means nothing. */
function factOf(value: unknown): unknown {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (Array.isArray(value) || value instanceof Set || value instanceof Map)
    return [...value].map(entryOf).toSorted(byText);
  if (typeof value !== "object" || value === null || value instanceof Date) return undefined;
  return entryOf(value);
}

/** The members of a list are facts whatever their types are: the ids of organisations may be numbers. */
function entryOf(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value) || value instanceof Set || value instanceof Map)
    return [...value].map(entryOf).toSorted(byText);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return undefined;
  return Object.entries(value)
    .map(([name, member]) => [name, entryOf(member)])
    .toSorted(byText);
}

function byText(one: unknown, other: unknown): number {
  const [a, b] = [JSON.stringify(one) ?? "", JSON.stringify(other) ?? ""];
  return a < b ? -1 : Number(a > b);
}
