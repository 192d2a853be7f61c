import type { AccessChange } from "../../audit/table/access-file.ts";
import { accessSummary, countsText } from "../../audit/table/access-summary.ts";
import type { AccessRow } from "../../audit/table/access-table.ts";
import { wrap } from "./wrap.ts";

/** The committed file. */
export const ACCESS_FILE = "access.md";
/** The changes on the first screen of a terminal. */
const MAX_CHANGES = 10;

/** The first screen: what is public, what writes, and what changed since the committed file, if there is one. */
export function accessReport(
  rows: readonly AccessRow[],
  changes: readonly AccessChange[] | null,
  width: number,
): readonly string[] {
  const { own, openPlaces, openWrites, signedInWrites, gatedWrites } = accessSummary(rows);
  const named = (title: string, places: readonly string[]): readonly string[] =>
    wrap(`${title}: ${places.length === 0 ? "none" : places.join(", ")}`, width);
  return [
    auditText(rows),
    `This application: ${countsText(own)}`,
    ...named("Open to anyone", openPlaces),
    ...named("Open to anyone, and writes", openWrites),
    ...named("Every signed-in user writes", signedInWrites),
    ...named("Writes with a permission or by a rule", gatedWrites),
    ...reviewLines(changes).flatMap((line) => wrap(line, width)),
  ];
}

function reviewLines(changes: readonly AccessChange[] | null): readonly string[] {
  const title = "Changed since the last review:";
  if (changes === null)
    return [`${title} unknown, because there is no ${ACCESS_FILE}. portico audit --write writes it`];
  if (changes.length === 0) return [`${title} nothing`];
  const more = changes.length - MAX_CHANGES;
  return [
    title,
    ...changes.slice(0, MAX_CHANGES).map(({ sentence }) => `  ${sentence}`),
    ...(more > 0 ? [`  and ${more} more: portico audit --check lists them`] : []),
  ];
}

/** The numbers in one line. */
export function auditText(rows: readonly AccessRow[]): string {
  return `audit: ${countsText(accessSummary(rows).all)}`;
}
