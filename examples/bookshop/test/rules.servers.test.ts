import { AnonymousUser, type Caller } from "portico";
import { expectAgreement } from "portico/testing";
import { beforeAll, describe, it } from "vitest";
import type { OrderLineRow } from "../src/orders/order-table.ts";
import { fillTables } from "./open-shop.ts";

// reader2 sells no books, and reader3 sold one but has no longer the role of a seller.
const names = ["reader1", "reader2", "reader3", "seller1", "seller2", "staff"];

beforeAll(async () => {
  await fillTables({ books: 12, users: 3 });
  const { database } = await import("../src/database.ts");
  await database
    .insertInto("orders")
    .values([
      { id: "one", buyer_id: "reader1" },
      { id: "both", buyer_id: "reader1" },
      { id: "two", buyer_id: "reader2" },
      { id: "shop", buyer_id: "seller1" },
      { id: "empty", buyer_id: "reader2" },
      { id: "former", buyer_id: "reader2" },
    ])
    .execute();
  await database
    .insertInto("order_lines")
    .values([
      line("one", "book-1", "seller1"),
      line("both", "book-1", "seller1"),
      line("both", "book-2", "seller2"),
      line("both", "book-3", null),
      line("two", "book-2", "seller2"),
      line("shop", "book-3", null),
      line("former", "book-4", "reader3"),
    ])
    .execute();
});

function line(order_id: string, book_id: string, seller_id: string | null): OrderLineRow {
  return { order_id, book_id, seller_id, copies: 1, price_cents: 100 };
}

async function users(): Promise<readonly Caller[]> {
  const { User } = await import("../src/accounts/user.ts");
  const found = names.map(async (username) => {
    const user = await User.objects.get({ username });
    if (user === null) throw new Error(`the user ${username} does not exist`);
    return user;
  });
  return [...(await Promise.all(found)), new AnonymousUser()];
}

describe("the two halves of a rule select the same rows:", () => {
  it("orders", async () => {
    const { visibleOrders } = await import("../src/orders/order-rules.ts");
    const { allOrders } = await import("../src/orders/order-lists.ts");

    await expectAgreement(visibleOrders, { users: await users(), handler: allOrders() });
  });

  it("lines of orders", async () => {
    const { visibleLines } = await import("../src/orders/order-rules.ts");
    const { database } = await import("../src/database.ts");
    const { tableHandler } = await import("portico/sql");
    const lines = tableHandler(database.selectFrom("order_lines").selectAll(), { uniqueKey: ["order_id", "book_id"] });

    await expectAgreement(visibleLines, { users: await users(), handler: lines });
  });

  it.each(["pricedBooks", "editableBooks"] as const)("%s", async (name) => {
    const rules = await import("../src/books/book-rules.ts");
    const { bookList } = await import("../src/books/book-lists.ts");

    await expectAgreement(rules[name], { users: await users(), handler: bookList() });
  });
});
