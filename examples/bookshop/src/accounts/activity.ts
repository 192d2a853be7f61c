import { type InterfaceType, t } from "portico/graphql";

/** Something that somebody did in the shop. */
export interface ActivityRow {
  readonly id: string;
  readonly at: Date;
}

export const Activity: InterfaceType<ActivityRow> = t.interface(
  "Activity",
  { id: t.id, at: t.dateTime },
  { resolveType: (row) => ("stars" in row ? "Review" : "Order"), description: "Something that somebody did here." },
);
