import { expect, it, vi } from "vitest";
import { mostCommon } from "../../../scripts/common-passwords.ts";
import { accountHarness, ann, password, tokenOf } from "./account-harness.ts";

const later = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000, interval: 5 });

it("[auth:AU-115] rejects the 10,000 most common passwords, in any case, on registration, change and reset", async () => {
  const { post, session, mails } = accountHarness();
  await post("/register", ann);
  const headers = await session();
  await post("/password/reset", { email: ann.email });
  await later(() => expect(mails.at(-1)?.kind).toBe("reset"));
  const token = tokenOf(mails, "reset");

  const refused = [
    await post("/register", { ...ann, email: "b@example.org", username: "b", password: "PassWord1" }),
    await post("/password", { current_password: password, new_password: "12345678" }, "203.0.113.2", headers),
    await post("/password/reset/confirm", { token, password: "iloveyou" }),
  ];

  for (const answer of refused)
    expect(answer.json()).toMatchObject({
      status: 422,
      code: "password_too_common",
      detail: expect.stringContaining("too common"),
    });
  // The link is still good.
  expect((await post("/password/reset/confirm", { token, password: "a new password" })).status).toBe(204);
});

it("[auth:AU-115] recognises each common password, and hardly any other text", async () => {
  const { isCommonPassword } = await import("../../../src/auth/passwords/is-common-password.ts");
  const listed = mostCommon();

  const missed = (await Promise.all(listed.map(isCommonPassword))).filter((isCommon) => !isCommon);
  const others = Array.from({ length: 50_000 }, (_, n) => `no common pass phrase ${n}`);
  const wrong = (await Promise.all(others.map(isCommonPassword))).filter(Boolean);

  expect([listed.length, missed.length]).toEqual([10_000, 0]);
  expect(wrong.length).toBeLessThan(3);
});

it("[auth:AU-115] calls a custom breach check, and rejects the passwords that it knows", async () => {
  const asked: string[] = [];
  const isBreached = async (word: string): Promise<boolean> => {
    asked.push(word);
    return word.includes("stolen");
  };
  const { post } = accountHarness({ account: { isBreached } });

  const stolen = await post("/register", { ...ann, password: "a stolen pass phrase" });
  const fine = await post("/register", ann);
  const short = await post("/register", { ...ann, password: "short" });

  expect(stolen.json()).toMatchObject({ status: 422, code: "password_breached" });
  expect([fine.status, short.status, asked]).toEqual([202, 422, ["a stolen pass phrase", password]]);
});

it.each([
  ["allow", 202],
  ["block", 503],
] as const)(
  "[auth:AU-115] answers with %s to a service that is down: %s, and tells of it",
  async (breachCheckFailure, status) => {
    const isBreached = () => Promise.reject(new Error(`no route to ${password}`));
    const { post, events } = accountHarness({ account: { isBreached, breachCheckFailure } });

    const answer = await post("/register", ann);

    expect(answer.status).toBe(status);
    expect(answer.headers["retry-after"]).toBe(status === 503 ? "5" : undefined);
    await later(() => expect(events.map(({ kind }) => kind)).toContain("breach_check_failed"));
    expect(JSON.stringify(events)).not.toContain(password);
  },
);

it("[auth:AU-116] rejects a password that is the username, the address or the application name", async () => {
  const { post } = accountHarness({ app: { title: "Corner Bookshop" }, account: { audience: "corner-api" } });
  const margaret = { email: "margaret@example.org", username: "margaret_m" };

  for (const word of ["margaret@example.org", "Margaret", " margaret_M", "corner bookshop", "Corner-API"])
    expect((await post("/register", { ...margaret, password: word })).json()).toMatchObject({
      status: 422,
      code: "password_too_common",
    });
});

it.each([{ isBreached: "https://api.example" }, { breachCheckFailure: "ignore" }])(
  "refuses the option %j when the application is built",
  (account) => {
    expect(() => accountHarness({ account: account as never })).toThrow(
      /authentication\.(isBreached|breachCheckFailure)/,
    );
  },
);
