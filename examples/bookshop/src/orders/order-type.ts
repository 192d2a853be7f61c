import { field, type ObjectType, type Of, object, t } from "portico/graphql";
import { Activity } from "../accounts/activity.ts";
import { nameOfUser } from "../accounts/user-loader.ts";
import { bookById } from "../books/book-loaders.ts";
import { Book } from "../books/book-type.ts";
import { linesOfOrder } from "./order-loaders.ts";
import { type OrderLineRow, type OrderRow, orderStates } from "./order-table.ts";

const OrderState = t.enum("OrderState", orderStates);

const OrderLine: ObjectType<OrderLineRow> = object("OrderLine", {
  copies: t.int,
  price_cents: field(t.int, { name: "priceCents", description: "The price of one copy when it was ordered." }),
  book: field(Book)(({ ctx, parent }) => bookById.load(ctx, parent.book_id)),
});

export const Order: ObjectType<OrderRow> = object(
  "Order",
  {
    state: OrderState,
    total_cents: field(t.int, { name: "totalCents" }),
    lines: field(t.list(OrderLine), { listSize: 10 })(({ ctx, parent }) => linesOfOrder.load(ctx, parent.id)),
    // A gate that checks the object: users see their own orders, and sellers see all of them.
    buyer: field(t.string, {
      auth: (user, { parent }: Of<OrderRow>) => parent.buyer_id === user.id || user.may("read:orders"),
    })(({ ctx, parent }) => nameOfUser.load(ctx, parent.buyer_id)),
  },
  { implements: [Activity] },
);
