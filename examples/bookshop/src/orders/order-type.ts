import { field, type ObjectType, object, t } from "portico/graphql";
import { Activity } from "../accounts/activity.ts";
import { nameOfUser } from "../accounts/user-loader.ts";
import { bookById } from "../books/book-loaders.ts";
import { Book } from "../books/book-type.ts";
import { visibleLines, visibleOrders } from "../database.ts";
import { linesOfOrder } from "./order-loaders.ts";
import { type OrderLineRow, type OrderRow, orderStates } from "./order-table.ts";
import { totalOf } from "./total-of.ts";

const OrderState = t.enum("OrderState", orderStates);

const OrderLine: ObjectType<OrderLineRow> = object(
  "OrderLine",
  {
    copies: t.int,
    price_cents: field(t.int, { name: "priceCents", description: "The price of one copy when it was ordered." }),
    book: field(Book)(({ ctx, parent }) => bookById.load(ctx, parent.book_id)),
  },
  { auth: visibleLines },
);

// The rule holds wherever an order appears: in a connection, an activity, the result of a mutation, an event.
export const Order: ObjectType<OrderRow> = object(
  "Order",
  {
    state: OrderState,
    buyer: field(t.string)(({ ctx, parent }) => nameOfUser.load(ctx, parent.buyer_id)),
    lines: field(t.list(OrderLine), { listSize: 10, description: "The lines that the caller may see." })(
      ({ ctx, parent }) => linesOfOrder.load(ctx, parent.id),
    ),
    totalCents: field(t.int, { description: "The total of these lines." })(async ({ ctx, parent }) =>
      totalOf(await linesOfOrder.load(ctx, parent.id)),
    ),
  },
  { implements: [Activity], auth: visibleOrders },
);
