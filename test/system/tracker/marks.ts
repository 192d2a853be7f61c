/**
 * A and B are the tenants of the two main callers. C shares a member with A. The rows of N belong to no organisation, so no
 * caller may see them.
 */
export type Tenant = "A" | "B" | "C" | "N";

/** A text that occurs in the rows of one tenant only. All marks have one length, so that responses can be compared. */
export const marked = (tenant: Tenant | "X", number: number): string =>
  `${tenant}-canary-${String(number).padStart(5, "0")}`;

/** Returns the text with A and B exchanged: what a member of A does becomes what a member of B does. */
export function exchanged(text: string): string {
  return text.replaceAll(/\b[AB](?=-canary-)/g, (tenant) => (tenant === "A" ? "B" : "A"));
}

/** Returns the first mark, number or date in a response that belongs to a tenant which the caller may not see. */
export function foreignMark(response: string, request: string, mayRead: readonly Tenant[]): string | null {
  const sent = new Set(request.match(MARK));
  const isForeign = (mark: string): boolean => !mayRead.includes(mark[0] as Tenant) && !sent.has(mark);
  const mark = response.match(MARK)?.find(isForeign);
  if (mark !== undefined) return mark;
  // Only the rows of A have other estimates and dates.
  return mayRead.some((tenant) => tenant !== "A")
    ? null
    : (/(?<![\w-])(?:177777\d{4}|1999-\d\d-\d\dT)/.exec(response)?.[0] ?? null);
}

const MARK = /\b[ABCN]-canary-\d{5}/g;
