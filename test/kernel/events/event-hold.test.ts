import { type HttpContext, memoryStores, PorticoApp, topic } from "portico";
import { type Database, openDatabase } from "portico/sql";
import { testClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const added = topic<string>("books.added");

let one: Database;
let other: Database;
beforeEach(() => {
  // Two databases, so that two transactions are open at once.
  one = openDatabase("sqlite::memory:");
  other = openDatabase("sqlite::memory:");
});
afterEach(async () => void (await Promise.all([one.destroy(), other.destroy()])));

/** Runs the work as a request, with a function that publishes and one that returns what the bus has received since. */
async function inRequest(
  work: (publish: (title: string) => Promise<void>, published: () => unknown[], ctx: HttpContext) => Promise<void>,
): Promise<unknown[]> {
  const stores = memoryStores();
  const publish = vi.spyOn(stores.bus, "publish");
  const published = (): unknown[] => publish.mock.calls.splice(0).map(([, value]) => value);
  const app = new PorticoApp({ logger: false, stores }).post("/", ({ ctx }) =>
    work((title) => ctx.pubsub.publish(added, title), published, ctx),
  );

  expect((await testClient(app).post("/")).status).toBe(204);
  return published();
}

it("events are published at once before a transaction and after it", async () => {
  const seen: unknown[] = [];
  await inRequest(async (publish, published) => {
    await publish("before");
    seen.push(published());
    const trx = await one.begin();
    await publish("during");
    seen.push(published());
    await trx.end("failure");
    await publish("after");
    seen.push(published());
  });

  expect(seen).toEqual([["before"], [], ["after"]]);
});

describe("events of two open transactions", () => {
  it.each([
    ["success", "failure", ["one"]],
    ["failure", "success", ["other"]],
    ["success", "success", ["one", "other"]],
  ] as const)("belong to that which the publishing code has begun: %s and %s", async (first, second, expected) => {
    const seen = await inRequest(async (publish) => {
      const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
      const branch = async (place: 0 | 1, outcome: "success" | "failure"): Promise<void> => {
        const trx = await (place === 0 ? one : other).begin();
        begun[place].resolve();
        await Promise.all(begun.map(({ promise }) => promise));
        await publish(place === 0 ? "one" : "other");
        await trx.end(outcome);
      };

      await Promise.all([branch(0, first), branch(1, second)]);
    });

    expect(new Set(seen)).toEqual(new Set(expected));
  });

  it("belong to the outer one after the inner one has ended", async () => {
    const seen: unknown[] = [];
    await inRequest(async (publish, published) => {
      const outer = await one.begin();
      const inner = await other.begin();
      await publish("inner");
      await inner.end("failure");
      await publish("outer");
      seen.push(published());
      await outer.end("success");
      seen.push(published());
      await publish("after");
      seen.push(published());
    });

    expect(seen).toEqual([[], ["outer"], ["after"]]);
  });

  it("belong to the inner one after the outer one has ended", async () => {
    const seen: unknown[] = [];
    await inRequest(async (publish, published) => {
      const outer = await one.begin();
      const inner = await other.begin();
      await outer.end("success");
      await publish("inner");
      seen.push(published());
      await inner.end("success");
      seen.push(published());
      await publish("after");
      seen.push(published());
    });

    expect(seen).toEqual([[], ["inner"], ["after"]]);
  });
});

describe("events of code that has begun no transaction", () => {
  /** Publishes outside the code that the request runs, one title after another. */
  function beside(publish: (title: string) => Promise<void>): (title: string) => Promise<void> {
    let next = Promise.withResolvers<string>();
    let done = Promise.withResolvers<void>();
    void (async () => {
      for (;;) {
        const title = await next.promise;
        next = Promise.withResolvers();
        await publish(title);
        done.resolve();
      }
    })();
    return async (title) => {
      done = Promise.withResolvers();
      next.resolve(title);
      await done.promise;
    };
  }

  it("wait for the transaction of their request that was opened last", async () => {
    const seen: unknown[] = [];
    await inRequest(async (publish, published) => {
      const say = beside(publish);
      const outer = await one.begin();
      await say("first");
      const inner = await other.begin();
      await say("second");
      seen.push(published());
      await inner.end("success");
      seen.push(published());
      await say("third");
      seen.push(published());
      await outer.end("success");
      seen.push(published());
      await say("fourth");
      seen.push(published());
    });

    expect(seen).toEqual([[], ["second"], [], ["first", "third"], ["fourth"]]);
  });

  it("are published at once after transactions have ended in another order", async () => {
    const seen: unknown[] = [];
    await inRequest(async (publish, published) => {
      const say = beside(publish);
      const outer = await one.begin();
      const inner = await other.begin();
      await outer.end("failure");
      await say("first");
      seen.push(published());
      await inner.end("success");
      await say("second");
      seen.push(published());
    });

    expect(seen).toEqual([[], ["first", "second"]]);
  });
});

describe("events of a savepoint", () => {
  it("wait for the transaction around it, and so do those that follow it", async () => {
    const seen: unknown[] = [];
    await inRequest(async (publish, published) => {
      const trx = await one.begin();
      const kept = await trx.begin();
      await publish("kept");
      await kept.end("success");
      const undone = await trx.begin();
      await publish("undone");
      await undone.end("failure");
      await publish("after");
      seen.push(published());
      await trx.end("success");
      seen.push(published());
    });

    expect(seen).toEqual([[], ["kept", "after"]]);
  });

  it("are lost with the transaction around it", async () => {
    const seen = await inRequest(async (publish) => {
      const trx = await one.begin();
      const kept = await trx.begin();
      await publish("kept");
      await kept.end("success");
      await trx.end("failure");
    });

    expect(seen).toEqual([]);
  });
});

it("an event is copied when it is published, and not when its transaction commits", async () => {
  const stores = memoryStores();
  const publish = vi.spyOn(stores.bus, "publish");
  const changed = topic<{ title: string }>("books.changed");
  const app = new PorticoApp({ logger: false, stores }).post("/", async ({ ctx }) => {
    const trx = await one.begin();
    const book = { title: "Emma" };
    await ctx.pubsub.publish(changed, book);
    book.title = "Persuasion";
    await trx.end("success");
  });

  expect((await testClient(app).post("/")).status).toBe(204);
  expect(publish.mock.calls.map(([{ name }, value]) => [name, value])).toEqual([["books.changed", { title: "Emma" }]]);
});
