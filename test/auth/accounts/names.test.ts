import { describe, expect, it, onTestFinished } from "vitest";
import { accountHarness, ann, password } from "./account-harness.ts";

/** Characters that show nothing, of every kind that Unicode has. */
const INVISIBLE = [
  "\ufe0f",
  "\u034f",
  "\u3164",
  "\u2800",
  "\u115f",
  "\u1160",
  "\u{e0100}",
  "\u200b",
  "\u200d",
  "\u00ad",
  "\u061c",

  "\u17b4",
  "\u180b",
  "\u2060",
  "\uffa0",
  "\u{1d159}",
  "\u{16fe4}",
  "\u{13441}",
  "\ue000",
  "\u{e0041}",
  "\uffff",
  "\0",
];

describe("with a custom user model the account routes", () => {
  it.each([
    ["an invalid address", { email: "not-an-address" }, "email"],
    ["an address with a line break", { email: "ann@example.org\nbcc: bob@example.org" }, "email"],
    ["an address around another", { email: "x<victim@example.org>@example.org" }, "email"],
    ["two addresses", { email: "ann@example.org,bob@example.org" }, "email"],
    ["an address in an encoded word", { email: "=?utf-8?q?a=40evil?=ann@example.org" }, "email"],
    ["half a character in an address", { email: "ann\ud800@example.org" }, "email"],
    ["half a character in a name", { username: "ann\udc00" }, "username"],
    ["a name that is empty", { username: "  " }, "username"],
    ["a name that could be an address", { username: "bob@example.org" }, "username"],
    ["a name that turns the direction of text", { username: "ann\u202egpj" }, "username"],
    ["an address that a program reads as an option", { email: "-oQ/tmp@example.org" }, "email"],
    ["an address whose domain ends with a dot", { email: "ann@example.org." }, "email"],
    ["an address whose domain has an empty label", { email: "ann@example..org" }, "email"],
    ["an address with an invisible character", { email: "an\u034fn@example.org" }, "email"],
    ...INVISIBLE.map((hidden): [string, object, string] => [
      `a name with the invisible character ${hidden.codePointAt(0)?.toString(16)}`,
      { username: `an${hidden}n` },
      "username",
    ]),
    ["a name with a Cyrillic letter among Latin ones", { username: "\u0430dmin" }, "username"],
    ["a name with a Greek letter among Latin ones", { username: "admin\u03bf" }, "username"],
    ["a name with an Armenian letter among Latin ones", { username: "li\u0578da" }, "username"],
    ["a name with a Cherokee letter among Latin ones", { username: "\u13deinda" }, "username"],
    ["a name with Greek and Cyrillic letters", { username: "\u03b1\u0431\u0432" }, "username"],
    ["a name with two blanks in a row", { username: "ann  lee" }, "username"],
    ["a name with a blank of another kind", { username: "ann\u1680lee" }, "username"],
    ["an address with 31 marks on one letter", { email: `ann${"\u0301".repeat(31)}@example.org` }, "email"],
    ["a name after 1,014 blanks", { username: `${" ".repeat(1_014)}ann` }, "username"],
    ["a name with 31 marks on one letter", { username: `ann${"\u0301".repeat(31)}` }, "username"],
  ])("reject %s before the model is called", async (_what, body, field) => {
    const { app, post, users } = accountHarness();
    onTestFinished(() => app.close());

    const answer = await post("/register", { ...ann, ...body });

    expect(answer.json()).toMatchObject({ status: 422, detail: expect.stringContaining(`The ${field} must `) });
    expect(await users.objects.get({ email: ann.email })).toBeNull();
  });

  it.each([
    ["an address", "email", (length: number) => `a@${"b".repeat(length - 6)}.org`],
    ["a name", "username", (length: number) => "a".repeat(length)],
  ])("accept %s of 254 characters, and no longer one", async (_what, field, make) => {
    const { app, post } = accountHarness();
    onTestFinished(() => app.close());
    const register = async (length: number): Promise<number> =>
      (await post("/register", { ...ann, [field]: make(length) })).status;

    expect([await register(255), await register(254)]).toEqual([422, 202]);
  });

  it("pass on names without surrounding spaces", async () => {
    const { app, post, users } = accountHarness();
    onTestFinished(() => app.close());

    await post("/register", { email: " ann@example.org ", username: " ann ", password });

    expect(await users.objects.get({ email: "ann@example.org" })).toMatchObject({ username: "ann" });
  });

  it.each([
    ["a full-width letter in an address", { email: "\uff41nn@example.org" }, "email"],
    ["a full-width letter in a domain", { email: "ann@\uff45xample.org" }, "email"],
    ["a full-width @", { email: "ann\uff20example.org@example.com" }, "email"],
    ["an ideographic full stop in a domain", { email: "ann@example\u3002org" }, "email"],
    ["a domain that is a number", { email: "ann@2130706433" }, "email"],
    ["a domain with an escape", { email: "ann@ex%61mple.org" }, "email"],
    ["a long s in a name", { username: "\u017fam" }, "username"],
    ["a ligature in a name", { username: "o\ufb00ice" }, "username"],
    ["a small capital in a name", { username: "\u1d2cnn" }, "username"],
  ])("reject %s, which differs from its canonical form", async (_what, body, field) => {
    const { app, post, mails } = accountHarness({ account: { verifyEmail: true } });
    onTestFinished(() => app.close());

    const answer = await post("/register", { ...ann, ...body });

    const detail = expect.stringContaining(`The ${field} contains a compatibility character`);
    expect(answer.json()).toMatchObject({ status: 422, code: "name_not_canonical", detail });
    expect(mails).toEqual([]);
  });

  it("reject such an address as the new address of an account", async () => {
    const { app, post, session } = accountHarness();
    onTestFinished(() => app.close());
    await post("/register", ann);

    const answer = await post("/email", { email: "\uff56ictim@example.org" }, undefined, await session());

    expect(answer.json()).toMatchObject({ status: 422, code: "name_not_canonical" });
  });

  it("take the address as username if there is none, and treat a known address alike", async () => {
    const { app, post, users } = accountHarness();
    onTestFinished(() => app.close());
    const body = { email: "Bob@example.org", password };

    const answers = [await post("/register", body), await post("/register", body)];

    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(answers[0]?.json()).toEqual(answers[1]?.json());
    expect(await users.objects.get({ email: "bob@example.org" })).toMatchObject({ username: "Bob@example.org" });
    expect((await post("/login", { identifier: "bob@example.org", password })).status).toBe(200);
  });

  it("accept letters and domains of any alphabet and case, with composed and decomposed accents", async () => {
    const { app, post, users } = accountHarness();
    onTestFinished(() => app.close());
    const names = ["ÉTÉ", "e\u0301te\u0301 2", "ΟΔΟΣ", "Дима", "李小龍", "İbo", "straße", "😀", "O'Neil-Smith 3rd"];

    for (const [index, username] of names.entries()) {
      const body = { email: `n${index}@BÜCHER.example`, username, password };
      expect((await post("/register", body, `203.0.113.${index}`)).status, username).toBe(202);
    }

    expect(await users.objects.get({ email: "n1@bücher.example" })).toMatchObject({ username: "été 2" });
  });
});
