import { setTimeout as sleep } from "node:timers/promises";
import { HttpException, PorticoApp } from "portico";
import { AsyncListDataHandler } from "portico/pagination";
import { logCatcher, testClient } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { overBoth } from "../../matrix.ts";

const rows = new AsyncListDataHandler([{ id: 1 }, { id: 2 }]);
const log = logCatcher();
const item = z.object({ id: z.number() });

const rejections: unknown[] = [];
const note = (reason: unknown): void => void rejections.push(reason);
beforeEach(() => {
  log.clear();
  rejections.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(() => {
  process.off("unhandledRejection", note);
});

describe("a page that a handler neither returns nor awaits", () => {
  overBoth(
    "is a 500 that the log explains, and no unhandled rejection",
    () =>
      new PorticoApp({ logger: log })
        .get("/sync", ({ response }) => {
          void response.apaginate(rows);
        })
        .get("/async", async ({ response }) => {
          void response.apaginate(rows);
          await sleep(10);
        })
        .get("/either", ({ response }) => {
          void response.paginate(rows);
        })
        .get("/value", ({ response }) => {
          void response.apaginate(rows);
          return { other: "answer" };
        })
        .get("/declared", { paginated: { strategy: "page_number", item } }, (({ response }: never) => {
          void (response as { apaginate(data: unknown): unknown }).apaginate(rows);
        }) as never),
    async (client) => {
      const paths = ["/sync", "/async", "/either", "/value", "/declared", "/sync?page=0", "/async?page=0"];

      const answers = await Promise.all(paths.map((path) => client.get(path)));
      await sleep(20);

      expect(answers.map(({ status }) => status)).toEqual(paths.map(() => 500));
      const told = log.lines.filter(({ level }) => level === "error");
      expect(told).toHaveLength(paths.length);
      for (const { msg } of told) expect(msg).toContain("neither returned nor awaited");
      expect(rejections).toEqual([]);
    },
  );

  it("does not get into the response of an exception handler that is still running", async () => {
    const app = new PorticoApp({ logger: false }).get("/", ({ response }) => {
      void response.apaginate(rows);
    });
    app.addExceptionHandler(Error, async (_request, response, error) => {
      await sleep(10);
      return response.status(500).text(error.message);
    });

    const answer = await testClient(app).get("/");

    expect(answer.text()).toContain("neither returned nor awaited");
    expect(answer.headers["link"]).toBe(undefined);
  });
});

describe("a page that a handler takes", () => {
  it("may be returned, awaited, raced and caught", async () => {
    const app = new PorticoApp({ logger: log })
      .get("/returned", ({ response }) => response.apaginate(rows))
      .get("/awaited", async ({ response }) => {
        await response.apaginate(rows);
      })
      .get("/raced", ({ response }) => Promise.race([response.apaginate(rows), sleep(1_000)]))
      .get("/caught", async ({ response }) => {
        try {
          return await response.apaginate(rows);
        } catch (cause) {
          throw new HttpException(418, "no such page", { cause });
        }
      });
    const client = testClient(app);
    const paths = ["/returned", "/awaited", "/raced", "/caught"];

    const good = await Promise.all(paths.map((path) => client.get(path)));
    const bad = await Promise.all(paths.map((path) => client.get(`${path}?page=0`)));
    await sleep(10);

    for (const answer of good) expect(answer.json()).toMatchObject({ items: [{ id: 1 }, { id: 2 }] });
    expect(bad.map(({ status }) => status)).toEqual([400, 400, 400, 418]);
    expect(log.lines).toEqual([]);
    expect(rejections).toEqual([]);
  });
});
