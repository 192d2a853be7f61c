import { AnonymousUser, type Caller, type Gate, PorticoApp } from "portico";
import { CursorPagination } from "portico/pagination";
import { type TableHandler, tableHandler } from "portico/sql";
import { expectAgreement } from "portico/testing";
import { beforeAll, describe, it } from "vitest";
import { z } from "zod";
import type { OrderLineRow } from "../src/orders/order-table.ts";
import { fillTables } from "./open-shop.ts";

// reader2 sells no books, and reader3 sold one but has no longer the role of a seller.
const names = ["reader1", "reader2", "reader3", "seller1", "seller2", "staff"];

beforeAll(async () => {
  await fillTables({ books: 12, users: 3 });
  const database = (await import("../src/database.ts")).database.asSystem("the rows of a test");
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
  it("in the lists of orders", async () => {
    const { bookshop } = await import("../src/app.ts");
    const app = bookshop({ app: { logger: false } });

    await expectAgreement(app, {
      users: await users(),
      lists: async (user) => {
        await user.get("/orders");
        await user.graphql("{ orders { nodes { id } } }");
      },
    });
  });

  it.each(["visibleLines", "pricedBooks", "editableBooks"] as const)("%s, which no list has yet", async (name) => {
    const rules = {
      ...(await import("../src/database.ts")),
      ...(await import("../src/books/book-rules.ts")),
    };
    const { bookList } = await import("../src/books/book-lists.ts");
    const { database } = await import("../src/database.ts");
    const lines = tableHandler(database.selectFrom("order_lines").selectAll(), { uniqueKey: ["order_id", "book_id"] });
    const handler: TableHandler<any, any> = name === "visibleLines" ? lines : bookList();
    const app = new PorticoApp({ logger: false });
    const strategy = new CursorPagination({ sortField: name === "visibleLines" ? "book_id" : "id" });
    app.get("/", { paginated: { strategy, item: z.looseObject({}), rule: rules[name] as Gate } }, ({ response }) =>
      response.apaginate(handler, { strategy }),
    );

    await expectAgreement(app, { users: await users(), lists: (user) => user.get("/") });
  });
});
