import { errorSerializer, PorticoApp } from "portico";
import { logCatcher, testClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";

/** As drivers and clients of other servers throw them. */
function driverError(): Error {
  return Object.assign(new Error("Data too long for column 'username'"), {
    code: "ER_DATA_TOO_LONG",
    errno: 1406,
    sql: "insert into users values ('ann', '$argon2id$v=19$secret-hash')",
    parameters: ["secret-parameter"],
    config: { headers: { Authorization: "Bearer secret-token" } },
    detail: "Key (email)=(secret@example.org) already exists.",
  });
}

it("of an error that was thrown the log has its kind, its sentence and its codes, and nothing else that hangs on it", async () => {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log });
  onTestFinished(() => app.close());
  app.get("/broken", () => {
    throw new Error("the user could not be stored", { cause: driverError() });
  });

  await testClient(app).get("/broken");

  expect(log.text).not.toContain("secret");
  expect(log.lines.at(-1)).toMatchObject({
    err: {
      type: "Error",
      message: "the user could not be stored: Data too long for column 'username'",
      stack: expect.stringContaining("caused by: Error: Data too long"),
    },
  });
});

it("returns codes, the errors of an AggregateError, and other values as they are", () => {
  expect(errorSerializer(driverError())).toMatchObject({ code: "ER_DATA_TOO_LONG", errno: 1406 });
  expect(errorSerializer(new AggregateError([driverError()], "all failed"))).toMatchObject({
    type: "AggregateError",
    errors: [{ code: "ER_DATA_TOO_LONG" }],
  });
  expect(errorSerializer("text")).toBe("text");
});

it("shortens a message that repeats client input, in the stack as well", () => {
  const { message, stack } = errorSerializer(new Error("x".repeat(100_000))) as Record<"message" | "stack", string>;

  expect([message.length, message.slice(-4)]).toEqual([1_000, "x..."]);
  expect(stack.length).toBeLessThan(5_000);
  expect(stack).toMatch(/x\.\.\.\n {4}at /);
});

it("ends with causes that go round in a circle", () => {
  const [one, two] = [new Error("one"), new Error("two")];
  one.cause = two;
  two.cause = one;

  expect(errorSerializer(one)).toMatchObject({ message: "one: two" });
});
