import { describe, expect, it, onTestFinished } from "vitest";
import { accountHarness, ann, password } from "./account-harness.ts";

describe("with a user model of one's own the account routes", () => {
  it.each([
    ["an address that is none", { email: "not-an-address" }, "email"],
    ["an address with a line break", { email: "ann@example.org\nbcc: bob@example.org" }, "email"],
    ["an address around another", { email: "x<victim@example.org>@example.org" }, "email"],
    ["two addresses", { email: "ann@example.org,bob@example.org" }, "email"],
    ["an address in an encoded word", { email: "=?utf-8?q?a=40evil?=ann@example.org" }, "email"],
    ["half a character in an address", { email: "ann\ud800@example.org" }, "email"],
    ["half a character in a name", { username: "ann\udc00" }, "username"],
    ["a name that is empty", { username: "  " }, "username"],
    ["a name that could be an address", { username: "bob@example.org" }, "username"],
    ["a name that turns the direction of text", { username: "ann\u202egpj" }, "username"],
  ])("refuse %s before the model is asked", async (_what, body, field) => {
    const { app, post, users } = accountHarness();
    onTestFinished(() => app.close());

    const answer = await post("/register", { ...ann, ...body });

    expect(answer.json()).toMatchObject({ status: 422, detail: expect.stringContaining(`The ${field} must be`) });
    expect(await users.objects.get({ email: ann.email })).toBeNull();
  });

  it("hand on names without the blanks around them", async () => {
    const { app, post, users } = accountHarness();
    onTestFinished(() => app.close());

    await post("/register", { email: " ann@example.org ", username: " ann ", password });

    expect(await users.objects.get({ email: "ann@example.org" })).toMatchObject({ username: "ann" });
  });
});
