import { type Topic, topic } from "portico";

/** Published for every order that is saved. */
export const orderPlaced: Topic<{ readonly id: string }> = topic<{ readonly id: string }>("orders.placed");
