import { NotFound, type Topic, topic } from "portico";
import { subscription, t } from "portico/graphql";
import { database } from "../database.ts";

/** How many copies of one book are left, whenever that changes. One topic per book: a change wakes only those who watch it. */
export function stockOf(book: string): Topic<number> {
  return topic<number>(`stock.${book}`);
}

export const stockNews = {
  stockChanged: subscription(t.int, { params: { book: t.id }, description: "How many copies are left, from now on." })(
    async function* ({ book, ctx }) {
      const known = await database.selectFrom("books").select("id").where("id", "=", book).executeTakeFirst();
      if (known === undefined) throw new NotFound(`There is no book ${book}`);
      yield* ctx.pubsub.subscribe(stockOf(book));
    },
  ),
};
