import { randomUUID } from "node:crypto";
import type { Everything } from "./everything.ts";
import { BODY, BODY_MS, marks, type Reader, repeating } from "./reader.ts";

const NAMES: Reader["texts"] = [
  marks,
  repeating("\u0315\u0316"),
  repeating("\u0315".repeat(30) + "\uFF9E"),
  repeating("\uFDFA"),
  repeating("\u1E9B\u0323"),
  repeating("a"),
  repeating("@"),
  repeating(" ", "a", "b"),
  repeating("=?"),
  repeating("a.", "", "@"),
];
const TOKENS: Reader["texts"] = [repeating("a"), repeating("prt_"), repeating("A", "prt_"), repeating(".")];

/** The account routes read 16 kB, and a character has up to three bytes in UTF-8. */
const ACCOUNT_BODY = 14_000;
const UTF8 = 3;

/** The names, passwords and tokens that account routes read, before anyone is signed in. */
export function accountReaders({ account, ask }: Everything): readonly Reader[] {
  const member = (
    path: string,
    name: string,
    texts: Reader["texts"],
    rest: () => object,
    outcomes: Reader["outcomes"],
  ): Reader => ({
    name: `${name} of POST /account${path}`,
    most: texts === TOKENS ? ACCOUNT_BODY : ACCOUNT_BODY / UTF8,
    texts,
    read: (text) => account(path, { ...rest(), [name]: text }),
    outcomes,
  });
  const password = "correct horse battery staple";
  const tooLong = "x".repeat(1_100);
  return [
    member("/login", "identifier", NAMES, () => ({ password: tooLong }), [422, 429]),
    member("/login", "password", NAMES, () => ({ identifier: randomUUID() }), [401, 422]),
    member("/token", "identifier", NAMES, () => ({ password: tooLong }), [422, 429]),
    member("/register", "email", NAMES, () => ({ username: "bob", password }), [422]),
    member("/register", "username", NAMES, () => ({ email: "bob@example.org", password }), [422]),
    member("/register", "password", NAMES, () => ({ email: "bob@example.org", username: randomUUID() }), [202, 422]),
    member("/password/reset", "email", NAMES, () => ({}), [202]),
    member("/password/reset/confirm", "token", TOKENS, () => ({ password }), [400]),
    member("/password/reset/confirm", "password", NAMES, () => ({ token: "a" }), [400, 422]),
    member("/verify", "token", TOKENS, () => ({}), [400]),
    member("/verify/request", "email", NAMES, () => ({}), [202]),
    member("/email/confirm", "token", TOKENS, () => ({}), [401]),
    member("/refresh", "refresh_token", TOKENS, () => ({}), [401]),
    member("/second-factor", "pending", TOKENS, () => ({ code: "123456" }), [401]),
    member("/sign-in-mail", "email", NAMES, () => ({}), [202]),
    {
      name: "the identifier of limitLogin in a custom route",
      most: BODY / UTF8,
      mostMs: BODY_MS,
      texts: NAMES,
      read: (text) => ask("POST", "/own-login", { "content-type": "text/plain" }, text),
      outcomes: [200, 204],
    },
    member("/logout", "refresh_token", TOKENS, () => ({}), [204]),
  ];
}
