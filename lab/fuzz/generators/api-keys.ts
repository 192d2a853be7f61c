import type { Generator, Input } from "../input.ts";
import { CANARY, type Known } from "../known.ts";
import { mutateText, oddText } from "../odd-values.ts";
import { answeredRequest, type Header, JSON_TYPE } from "../request-bytes.ts";
import { escaped } from "../routes.ts";
import type { Tape } from "../tape.ts";

/** API keys, real and changed, and the routes that manage them. */
export const apiKeys: Generator = { name: "api-keys", groupSize: 300, make };

function make(tape: Tape, known: Known): Input {
  const headers = [keyHeader(tape, changed(tape, known))];
  switch (tape.below(6)) {
    case 4:
      return answeredRequest({ method: "DELETE", path: `/account/keys/${escaped(oddText(tape))}`, headers });
    case 5:
      return answeredRequest({
        path: "/account/keys",
        headers: [...headers, JSON_TYPE],
        body: JSON.stringify({ name: oddText(tape) }),
      });
    default:
      return answeredRequest({ path: tape.pick(["/account/me", "/orders", "/books/stock", "/account/keys"]), headers });
  }
}

function keyHeader(tape: Tape, key: string): Header {
  const kind = tape.below(4);
  if (kind < 2) return ["x-api-key", key];
  return ["authorization", `${kind === 2 ? "Bearer" : "ApiKey"} ${key}`];
}

function changed(tape: Tape, { apiKeys }: Known): string {
  const key = tape.pick(apiKeys);
  switch (tape.below(6)) {
    case 0:
      return mutateText(tape, key);
    case 1:
      return `${key.slice(0, key.lastIndexOf("_") + 1)}${mutateText(tape, key.slice(key.lastIndexOf("_") + 1))}`;
    case 2:
      return `${key}, ${tape.pick(apiKeys)}`;
    case 3:
      return tape.pick([CANARY, "", "_", "__", "_".repeat(4_000), `${key.slice(0, 4)}${CANARY}`]);
    case 4:
      return key.slice(0, 12) + tape.pick(apiKeys).slice(12);
    default:
      return key;
  }
}
