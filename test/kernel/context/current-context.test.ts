import { setTimeout as sleep } from "node:timers/promises";
import { currentContext, Depend, PorticoApp } from "portico";
import { liveClient, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { overBoth } from "../../matrix.ts";

const who = (): string | undefined => currentContext()?.request.headers["x-who"];
const as = (name: string) => ({ headers: { "x-who": name } });

it("is null outside of a request", () => {
  expect(currentContext()).toBe(null);
});

overBoth(
  "is that of the request, wherever the code is that asks",
  () => {
    const seen: (string | undefined)[] = [];
    return new PorticoApp({ logger: false })
      .use(async (_ctx, next) => {
        seen.push(`before ${who()}`);
        await next();
        seen.push(`after ${who()}`);
      })
      .get(
        "/",
        {
          params: {
            db: Depend(async function* () {
              seen.push(`opened ${who()}`);
              try {
                yield 1;
              } finally {
                seen.push(`closed ${who()}`);
              }
            }),
          },
        },
        async ({ ctx }) => {
          seen.push(`handler ${currentContext() === ctx}`);
          await sleep(1);
          seen.push(`later ${currentContext() === ctx}`);
          throw new RangeError("no");
        },
      )
      .addExceptionHandler(RangeError, async (_request, response) => {
        await sleep(1);
        seen.push(`handled ${who()}`);
        return response.json(seen.splice(0));
      });
  },
  async (client) => {
    const answer = await client.get("/", as("ann"));

    expect(answer.json()).toEqual([
      "before ann",
      "opened ann",
      "handler true",
      "later true",
      "closed ann",
      "handled ann",
    ]);
  },
);

overBoth(
  "is not mixed up between requests that run at the same time",
  () => {
    let request = 0;
    return new PorticoApp({ logger: false }).get("/", async () => {
      const before = who();
      await sleep((request++ * 7) % 10);
      return [before, who()];
    });
  },
  async (client) => {
    const names = Array.from({ length: 20 }, (_, n) => `caller ${n}`);

    const answers = await Promise.all(names.map((name) => client.get("/", as(name))));

    expect(answers.map((answer) => answer.json())).toEqual(names.map((name) => [name, name]));
  },
);

describe("goes on", () => {
  it("in work that a handler starts without awaiting it", async () => {
    const later = Promise.withResolvers<string | undefined>();
    const app = new PorticoApp({ logger: false }).get("/", () => {
      setTimeout(() => later.resolve(who()), 1);
      return "answered";
    });

    await testClient(app).get("/", as("ann"));

    expect(await later.promise).toBe("ann");
  });

  it("in the source of a stream", async () => {
    const app = new PorticoApp({ logger: false }).get("/", ({ response }) =>
      response.stream(
        (async function* () {
          yield `${who()} `;
          await sleep(1);
          yield String(who());
        })(),
      ),
    );

    expect((await testClient(app).get("/", as("ann"))).text()).toBe("ann ann");
  });

  it("for as long as a socket is open", async () => {
    const app = new PorticoApp({ logger: false }).socket("/chat", async ({ socket, ctx }) => {
      for await (const message of socket) socket.send(`${String(message)} ${who()} ${currentContext() === ctx}`);
    });
    const client = await liveClient(app);
    const [ann, bob] = [await client.socket("/chat", as("ann")), await client.socket("/chat", as("bob"))];

    ann.send("I am");
    bob.send("I am");
    const said = [await ann.next(), await bob.next()];
    await client.close();

    expect(said).toEqual(["I am ann true", "I am bob true"]);
  });
});
