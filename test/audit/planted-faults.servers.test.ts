import { beforeAll, describe, expect, it } from "vitest";
import { type Audited, auditCopies } from "./bookshop-copies.ts";
import type { Edit } from "./copy-bookshop.ts";

/** A fault of one kind, and the sentence that names it. */
interface Planted extends Edit {
  readonly fault: string;
  readonly named: RegExp;
  /** Whether the application does not even start. */
  readonly stops?: true;
}

const planted: readonly Planted[] = [
  {
    fault: "a route without its gate",
    file: "books/book-routes.ts",
    from: "auth: addsBooks,",
    to: "",
    named: /^route POST \/books has changed\. It is open to anyone\./,
  },
  {
    fault: "a query without its gate",
    file: "orders/order-fields.ts",
    from: "myActivity: field(t.list(Activity), { auth: true, ",
    to: "myActivity: field(t.list(Activity), { ",
    named: /^query Query\.myActivity has changed\. It is open to anyone\./,
  },
  {
    fault: "a mutation without its gate",
    file: "accounts/account-fields.ts",
    from: 'auth: whoMay("grant:roles"),',
    to: "",
    named: /^mutation Mutation\.grantRole has changed\. It is open to anyone\./,
  },
  {
    fault: "a subscription without its gate",
    file: "orders/order-fields.ts",
    from: "orderPlaced: subscription(Order, {\n    auth: shipsOrders,",
    to: "orderPlaced: subscription(Order, {",
    named: /^subscription Subscription\.orderPlaced has changed\. .*gate: anyone, before: permission ship:orders/,
  },
  {
    fault: "an upload without its gate",
    file: "books/book-mutations.ts",
    from: "auth: addsBooks,",
    to: "",
    named: /^mutation Mutation\.setCover has changed\. It is open to anyone\./,
  },
  {
    fault: "a field without its gate",
    file: "books/book-type.ts",
    from: "auth: pricedBooks,",
    to: "",
    named: /^field Book\.costCents no longer exists, or has lost its gate\./,
  },
  {
    fault: "a type without its rule",
    file: "orders/order-type.ts",
    from: "{ auth: visibleLines },",
    to: "",
    named: /^type OrderLine no longer exists, or has lost its gate\./,
  },
  {
    fault: "a mutation without its object",
    file: "books/book-mutations.ts",
    from: "change: BookChange, trx: inTransaction, book: editableBook }",
    to: "change: BookChange, trx: inTransaction }",
    named: /^object Mutation\.changeBook: book no longer exists\./,
  },
  {
    fault: "an object without the rule for the action",
    file: "orders/order-fields.ts",
    from: ", { may: shippableOrders })",
    to: ")",
    named: /^object Mutation\.shipOrder: order has changed\./,
  },
  {
    fault: "a list without its scope",
    file: "orders/order-routes.ts",
    from: ", rule: visibleOrders }",
    to: " }",
    named: /^list GET \/orders has changed\. No rule restricts it\./,
  },
  {
    fault: "a rule that allows every object",
    file: "orders/order-rules.ts",
    from: "order.buyer_id === user.id ||",
    to: "true ||",
    named: /^type Order has changed\. It is open to every signed-in user\./,
  },
  {
    fault: "a rule that reads the object and allows all the same",
    file: "orders/order-rules.ts",
    from: "order.buyer_id === user.id ||",
    to: "order.buyer_id !== user.id || order.buyer_id === user.id ||",
    named: /^type Order has changed\. signed in: depends, before: buyer_id = caller/,
  },
  {
    fault: "a rule whose where selects more rows",
    file: "orders/order-rules.ts",
    from: 'return user.may("sell:books") ? some(bought, sold) : bought;',
    to: "return some(bought, sold);",
    named: /^list GET \/orders has changed\. .*signed in: buyer_id = caller or id in .*, before: buyer_id = caller;/,
  },
  {
    fault: "a dropped permission",
    file: "accounts/account-fields.ts",
    from: 'auth: whoMay("grant:roles"),',
    to: "auth: true,",
    named:
      /^mutation Mutation\.grantRole has changed\. It is open to every signed-in user\. gate: signed in, before: permission grant:roles/,
  },
  {
    fault: "a weaker permission",
    file: "orders/order-rules.ts",
    from: 'some(whoMay("ship:orders"), whoMay("sell:books"))',
    to: 'some(whoMay("ship:orders"), whoMay("place:orders"))',
    named:
      /^mutation Mutation\.shipOrder has changed\. gate: permission ship:orders or permission place:orders, before/,
  },
  {
    fault: "a new route that is open",
    file: "app.ts",
    from: 'app.mount("", shopPage());',
    to: 'app.mount("", shopPage());\n  app.get("/debug", () => process.env);',
    named: /^route GET \/debug is new\. It is open to anyone\./,
  },
  {
    fault: "a new socket that is open",
    file: "app.ts",
    from: 'app.mount("", shopPage());',
    to: 'app.mount("", shopPage());\n  app.socket("/tail", () => {});',
    named: /^socket WebSocket \/tail is new\. It is open to anyone\./,
  },
  {
    fault: "a second endpoint over the same schema",
    file: "page/shop-page.ts",
    from: 'import { NotFound, Router } from "portico";',
    to: `import { NotFound, Router as Plain } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
class Router extends Plain {
  constructor() {
    super();
    new Graph(schema({ query: { secret: field(t.string)(() => "") } }), { path: "/internal" }).mount(this);
  }
}`,
    named: /^query Query\.secret at \/internal is new\. It is open to anyone\./,
  },
  {
    fault: "an upload of any type",
    file: "graph.ts",
    from: ', contentTypes: ["image/png", "image/jpeg"]',
    to: "",
    named: /^\/graphql accepts files of any type: list the allowed ones in uploads\.contentTypes/,
  },
  {
    fault: "a list sorted by a hidden column",
    file: "books/book-lists.ts",
    from: '  order: [\n    ["added_at", "desc"],\n    ["id", "desc"],\n  ],\n  sortable',
    to: '  order: [["cost_cents", "desc"]],\n  sortable',
    named: /^Query\.books is sorted by cost_cents, and Book\.costCents has a gate: the order tells the hidden values/,
  },
  {
    fault: "a gate on a field that cannot be null",
    file: "books/book-type.ts",
    from: "auth: pricedBooks,",
    to: "auth: pricedBooks, nullable: false,",
    named: /^Book\.costCents has a gate but is not nullable: a refusal removes the whole object around it/,
  },
  {
    fault: "a list without a maximum",
    file: "books/book-type.ts",
    from: '    listSize: 10,\n    description: "The ten newest reviews.",',
    to: '    description: "The ten newest reviews.",',
    named: /^Book\.reviews returns a list without a maximum: declare listSize, or make it a connection/,
  },
  {
    fault: "a rule without a where over a list and its table",
    file: "orders/order-rules.ts",
    from: 'return user.may("sell:books") ? some(bought, sold) : bought;\n      },\n    }),\n  );\n\n  /** Of an order',
    to: "return bought;\n      },\n      ...{ where: undefined },\n    }),\n  );\n\n  /** Of an order",
    named: /openDatabase\.guard\.orders\.read must be a rule with where/,
    stops: true,
  },
];

describe("portico audit --check", () => {
  let results: readonly Audited[];
  beforeAll(async () => {
    const unchanged = { file: "app.ts", from: "Bookshop", to: "Bookshop" };
    results = await auditCopies([...planted, unchanged]);
  });

  it.each(planted.map(({ fault }, at) => [fault, at] as const))("finds and names %s", (_fault, at) => {
    const { code, changes, warnings, error } = results[at] as Audited;
    const { named, stops = false } = planted[at] as Planted;
    const sentences = [
      error,
      ...changes.map(({ sentence }) => sentence),
      ...warnings.map(({ place, sentence }) => `${place} ${sentence}`),
    ];

    expect({ code, stops: error !== "" }).toEqual({ code: 1, stops });
    expect(sentences).toContainEqual(expect.stringMatching(named));
  });

  it("finds nothing in the bookshop", () => {
    expect(results.at(-1)).toEqual({ code: 0, changes: [], warnings: [], error: "" });
  });
});
