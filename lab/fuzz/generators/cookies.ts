import type { Generator, Input } from "../input.ts";
import { CANARY, type Known } from "../known.ts";
import { mutateText, oddText } from "../odd-values.ts";
import { answeredRequest, JSON_TYPE } from "../request-bytes.ts";
import type { Tape } from "../tape.ts";

/** Session cookies, real and changed, and other cookie headers. */
export const cookies: Generator = { name: "cookies", groupSize: 300, make };

const PATHS = ["/account/me", "/orders", "/books/stock", "/operations/metrics"];

function make(tape: Tape, known: Known): Input {
  const headers = [cookie(tape, known), ...tape.some(2, () => cookie(tape, known))].map(
    (value) => ["cookie", value] as const,
  );
  const origin = tape.oneIn(3)
    ? [["origin", tape.pick(["http://shop.example", "http://other.example", "null", oddText(tape)])] as const]
    : [];
  return tape.oneIn(4)
    ? answeredRequest({
        path: "/graphql",
        headers: [...headers, ...origin, JSON_TYPE],
        body: '{"query":"{ me { id } }"}',
      })
    : answeredRequest({ path: tape.pick(PATHS), headers: [...headers, ...origin] });
}

function cookie(tape: Tape, known: Known): string {
  const real = tape.pick(known.cookies);
  const name = real.slice(0, real.indexOf("="));
  switch (tape.below(9)) {
    case 0:
      return mutateText(tape, real);
    case 1:
      return `${name}=${mutateText(tape, real.slice(name.length + 1))}`;
    case 2:
      return `${real}; ${mutateText(tape, real)}`;
    case 3:
      return `${mutateText(tape, real)}; ${real}`;
    case 4:
      return `${name}=${tape.pick(["", '"', CANARY, `${CANARY}.${CANARY}`, "a.b.c", "%", "%00", "s%3A"])}`;
    case 5:
      return `${name.replace("__Host-", "")}=${real.slice(name.length + 1)}`;
    case 6:
      return `${oddText(tape)}=${oddText(tape)}; ${real}`;
    case 7:
      return tape.pick([
        "=",
        ";",
        "a",
        "a=b; c",
        "__proto__=1",
        ";".repeat(2_000),
        "=;".repeat(500),
        "a=b;".repeat(1_500),
      ]);
    default:
      return real;
  }
}
