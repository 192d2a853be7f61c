import { type Topic, topic } from "portico";
import { subscription, t } from "portico/graphql";

export interface StockChange {
  readonly book: string;
  readonly left: number;
}

/** How many copies of a book are left, whenever that changes. */
export const stockChanged: Topic<StockChange> = topic<StockChange>("stock.changed");

export const stockNews = {
  stockChanged: subscription(t.int, { params: { book: t.id }, description: "How many copies are left, from now on." })(
    async function* ({ book, ctx }) {
      for await (const change of ctx.pubsub.subscribe(stockChanged)) if (change.book === book) yield change.left;
    },
  ),
};
