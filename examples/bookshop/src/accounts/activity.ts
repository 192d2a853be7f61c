import { type InterfaceType, t } from "portico/graphql";

/** An action of a user in the shop. */
export interface ActivityRow {
  readonly id: string;
  readonly at: Date;
}

export const Activity: InterfaceType<ActivityRow> = t.interface(
  "Activity",
  { id: t.id, at: t.dateTime },
  { resolveType: (row) => ("stars" in row ? "Review" : "Order"), description: "An order or a review of a user." },
);
