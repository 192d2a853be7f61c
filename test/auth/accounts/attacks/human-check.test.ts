import type { PorticoRequest } from "portico";
import { describe, expect, it } from "vitest";
import { type AccountHarness, accountHarness, ann, password } from "../account-harness.ts";

const solved = { "captcha-token": "solved" };
const isHuman = async (request: PorticoRequest): Promise<boolean> => request.headers["captcha-token"] === "solved";
const login = { identifier: ann.email, password };

async function registered(check: (request: PorticoRequest) => Promise<boolean>): Promise<AccountHarness> {
  const harness = accountHarness({ account: { isHuman: check } });
  await harness.users.objects.createUser(ann);
  return harness;
}

describe("isHuman", () => {
  it.each([
    ["/login", login],
    ["/token", login],
    ["/register", { ...ann, email: "bob@example.org", username: "bob" }],
    ["/password/reset", { email: ann.email }],
  ])("rejects a program at %s, and lets a person through", async (path, body) => {
    const { post, users, mails } = await registered(isHuman);

    const program = await post(path, body);
    const bob = await users.objects.get({ username: "bob" });
    const mailed = mails.length;
    const person = await post(path, body, "203.0.113.1", solved);

    expect([program.status, program.json()]).toMatchObject([403, { code: "human_check_failed" }]);
    expect([bob, mailed]).toEqual([null, 0]);
    expect(person.status).toBeLessThan(300);
  });

  it("[auth:AU-264] rejects before the password is checked, so that programs cannot use up the attempts of an account", async () => {
    const { post } = await registered(isHuman);

    for (let n = 0; n < 60; n++) await post("/login", { ...login, password: "wrong" }, `203.0.113.${n}`);

    expect((await post("/login", login, "203.0.113.1", solved)).status).toBe(200);
  });

  it.each([
    ["rejects", () => Promise.reject(new Error("the service is down"))],
    [
      "throws",
      () => {
        throw new Error("the service is down");
      },
    ],
  ])("responds with 503 while it %s", async (_how, check) => {
    const { post } = await registered(check);

    const answer = await post("/login", login);

    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "5"]);
    expect(answer.text()).not.toContain("the service is down");
  });

  it("[auth:AU-265] accepts nothing but true", async () => {
    const { post } = await registered(async () => "no" as unknown as boolean);

    expect((await post("/login", login)).status).toBe(403);
  });
});
