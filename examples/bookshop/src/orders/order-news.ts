import { type Topic, topic } from "portico";

/** An order that is in the database. */
export const orderPlaced: Topic<{ readonly id: string }> = topic<{ readonly id: string }>("orders.placed");
