import {
  type BudgetOptions,
  HttpException,
  identify,
  type LoadOptions,
  PorticoApp,
  type PorticoAppOptions,
  rule,
} from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { field, Graph, type GraphOptions, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { z } from "zod";

interface Book {
  readonly title: string;
}
const Book: ObjectType<Book> = object("Book", { title: t.string });
const Author: ObjectType<{ readonly name: string }> = object("Author", {
  name: t.string,
  books: field(t.list(Book), { cost: 2, listSize: 10 })(() => [{ title: "Emma" }]),
});

const Secret: ObjectType<{ readonly name: string }> = object(
  "Secret",
  { name: t.string },
  { auth: rule({ name: "open", anonymous: true, allows: (_user, { name }: { name: string }) => name === "open" }) },
);

/** Operations that wait until the test lets them go. */
export class Waiting {
  readonly #open = Promise.withResolvers<void>();
  started = 0;

  async here(): Promise<string> {
    this.started++;
    await this.#open.promise;
    return "done";
  }

  letGo(): void {
    this.#open.resolve();
  }
}

/** The budget option, and options of the application and its endpoint. */
export interface BudgetAppOptions extends PorticoAppOptions {
  readonly budget: BudgetOptions;
  readonly waiting?: Waiting;
  readonly graph?: GraphOptions;
}

/** A host that stands still for seconds is not overloaded. */
const load: LoadOptions = { report: true };

/** An application with routes, a GraphQL endpoint and a socket. The headers of a request say who is calling. */
export function budgetApp({ waiting = new Waiting(), graph = {}, ...options }: BudgetAppOptions): PorticoApp {
  const app = new PorticoApp({ logger: false, trustedProxies: ["loopback"], load, ...options });
  app.use(async (ctx, next) => {
    const { "x-user": user, "x-key": key, "x-admin": impersonator } = ctx.request.headers;
    if (typeof user === "string")
      identify(ctx, {
        user: new SimpleUser(user),
        auth: key === undefined ? "session" : "apikey",
        credential: {
          ...(typeof key === "string" ? { id: `key:${key}` } : {}),
          ...(typeof impersonator === "string" ? { impersonator } : {}),
        },
      });
    await next();
  });
  app.get("/", () => "hello");
  // The cost of a route must be within the budget.
  app.get("/report", { cost: Math.min(7, ...Object.values(options.budget)) }, () => "report");
  app.get("/free", { cost: 0 }, () => "free");
  app.get("/mine", { auth: useAuth() }, () => "mine");
  app.get("/waiting", () => waiting.here());
  app.get("/missing", () => {
    throw new HttpException(404, "no such thing");
  });
  app.post("/books", { body: z.object({ title: z.string() }) }, () => "added");
  app.socket("/echo", async ({ socket }) => {
    for await (const message of socket) socket.send(String(message));
  });
  const query = {
    hello: field(t.string)(() => "hello"),
    books: field(t.list(Book), {
      params: { first: t.arg(t.int, { default: 20 }) },
      cost: 5,
      listSize: { argument: "first", max: 100 },
    })(() => [{ title: "Emma" }, { title: "Persuasion" }]),
    authors: field(t.list(Author), { listSize: 10 })(() => [{ name: "Jane" }, { name: "Mary" }]),
    secrets: field(t.list(Secret), { listSize: 10 })(() => [{ name: "a" }, { name: "open" }, { name: "b" }]),
    broken: field(t.string)(() => {
      throw new HttpException(409, "broken");
    }),
    waiting: field(t.string)(() => waiting.here()),
  };
  const live = {
    ticks: subscription(t.int, { cost: 4 })(async function* () {
      for (let n = 1; n <= 3; n++) yield n;
    }),
    endless: subscription(t.int, { cost: 4 })(async function* ({ ctx }) {
      yield 1;
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    }),
  };
  new Graph(schema({ query, subscription: live }), graph).mount(app);
  return app;
}

/** The state of a budget in the headers of a response. */
export function quotaOf(headers: Readonly<Record<string, unknown>>): {
  readonly remaining: number;
  readonly policy: string;
} {
  const [, policy = "", remaining = ""] = /^"(\w+)";r=(\d+);t=\d+$/.exec(String(headers["ratelimit"])) ?? [];
  return { remaining: Number(remaining === "" ? Number.NaN : remaining), policy };
}
