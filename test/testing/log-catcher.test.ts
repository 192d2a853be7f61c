import { PorticoApp } from "portico";
import { logCatcher, testClient } from "portico/testing";
import { expect, it } from "vitest";

it("keeps every line from trace on, with its level in words and its details", () => {
  const log = logCatcher();
  const { log: logger } = new PorticoApp({ logger: log });

  for (const level of ["trace", "debug", "info", "warn", "error", "fatal"] as const)
    logger[level]({ shelf: level.length }, `a ${level}`);

  expect(log.lines.map(({ level, msg, shelf }) => [level, msg, shelf])).toEqual([
    ["trace", "a trace", 5],
    ["debug", "a debug", 5],
    ["info", "a info", 4],
    ["warn", "a warn", 4],
    ["error", "a error", 5],
    ["fatal", "a fatal", 5],
  ]);
});

it("collects the log lines of handlers", async () => {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log }).get("/", ({ ctx }) => ctx.log.info({ book: 7 }, "sold"));

  await testClient(app).get("/");

  expect(log.lines).toEqual([expect.objectContaining({ level: "info", msg: "sold", book: 7 })]);
});

it("has the text as written, and can be cleared", () => {
  const log = logCatcher();
  const { log: logger } = new PorticoApp({ logger: log });
  logger.child({ part: "stock" }).warn({}, "one");
  const text = log.text;

  log.clear();

  expect(text).toMatch(/^\{.*"part":"stock".*"msg":"one"\}\n$/);
  expect([log.lines, log.text]).toEqual([[], ""]);
});

it("is separate for each app: two do not share their lines", () => {
  const [one, other] = [logCatcher(), logCatcher()];

  new PorticoApp({ logger: one }).log.info({}, "mine");

  expect([one.lines.length, other.lines.length]).toEqual([1, 0]);
});
