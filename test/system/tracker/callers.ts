import type { Tenant } from "./marks.ts";
import { idOf } from "./seed.ts";

/** A caller, and the tenants whose rows the caller may see. */
export interface Caller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly mayRead: readonly Tenant[];
}
const caller = (name: string, id: string | null, ...mayRead: readonly Tenant[]): Caller => ({
  name,
  headers: id === null ? {} : { "x-user": id },
  mayRead,
});

export const ada: Caller = caller("a member of A", idOf("A", "people", 0), "A");
/** Belongs to several tenants. */
export const both: Caller = caller("a member of A and C", idOf("A", "people", 2), "A", "C");
export const bea: Caller = caller("a member of B", idOf("B", "people", 0), "B");
export const outsider: Caller = caller("a user without an organisation", "outsider-1");
export const anonymous: Caller = caller("an anonymous caller", null);
