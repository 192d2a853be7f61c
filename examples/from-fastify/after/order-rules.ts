import { isEqual, rule, some } from "portico";
import { useAuth } from "portico/auth";
import type { OrderRow } from "../shared/tables.ts";

/** Customers see their own orders, and the staff sees all orders. */
export const visibleOrders = some(
  useAuth({ permissions: ["read:orders"] }),
  rule<OrderRow>({
    name: "order.own",
    allows: (user, order) => order.customerId === user.identity,
    where: (user) => isEqual("customerId", user.identity),
  }),
);
