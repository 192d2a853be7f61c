import { NotFound, type Topic, topic } from "portico";
import { subscription, t } from "portico/graphql";
import { database } from "../database.ts";

/**
 * The remaining copies of a book, published on every change. Each book has its own topic, so a change reaches only its
 * subscribers.
 */
export function stockOf(book: string): Topic<number> {
  return topic<number>(`stock.${book}`);
}

export const stockNews = {
  stockChanged: subscription(t.int, {
    params: { book: t.id },
    description: "The number of copies in stock, sent on every change.",
  })(async function* ({ book, ctx }) {
    const known = await database.selectFrom("books").select("id").where("id", "=", book).executeTakeFirst();
    if (known === undefined) throw new NotFound(`The book ${book} does not exist`);
    yield* ctx.pubsub.subscribe(stockOf(book));
  }),
};
