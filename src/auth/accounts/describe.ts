import type { AccountRoute } from "./account-options.ts";
import { type RecordSchema, record } from "./record-schema.ts";

/** The options that all account routes share: their name in the document, their group, and the largest body. */
export function describe(
  route: AccountRoute,
  summary: string,
): { readonly name: string; readonly summary: string; readonly tags: readonly string[]; readonly maxBody: "16kb" } {
  const name = `account_${summary.toLowerCase().replace(/[^a-z]+/g, "_")}`;
  return { name: name.slice(0, 60), summary, tags: ["account", route], maxBody: "16kb" };
}

/** The answer of what goes on by mail: it says nothing about whether there is an account. */
export const ACCEPTED: { readonly detail: string } = { detail: "If there is something to do, a mail is on its way" };
export const Accepted: RecordSchema<{ readonly detail: "string" }> = record({ detail: "string" });
