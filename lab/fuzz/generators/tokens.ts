import type { Generator, Input } from "../input.ts";
import { CANARY, type Known } from "../known.ts";
import { mutateText, oddJson } from "../odd-values.ts";
import { answeredRequest, JSON_TYPE } from "../request-bytes.ts";
import type { Tape } from "../tape.ts";

/** Access and refresh tokens, real and changed. */
export const tokens: Generator = { name: "tokens", groupSize: 300, make };

const ALGORITHMS = ["none", "None", "HS256", "HS512", "RS256", "ES256", "", null, ["HS256"], {}];
const CLAIMS = ["sub", "exp", "iat", "nbf", "aud", "iss", "sid", "jti", "ver", "__proto__"];

function make(tape: Tape, known: Known): Input {
  if (tape.below(5) === 4) {
    const token = changed(tape, tape.pick(known.refreshTokens));
    return answeredRequest({
      path: tape.pick(["/account/refresh", "/account/refresh", "/account/logout"]),
      headers: [JSON_TYPE],
      body: JSON.stringify({ refresh_token: token }),
    });
  }
  const scheme = tape.pick(["Bearer", "bearer", "BEARER", "Bearer ", "Basic", "Token", "", "Bearer,"]);
  const value = `${scheme} ${changed(tape, tape.pick(known.accessTokens))}`;
  const headers = [value, ...(tape.oneIn(10) ? [`Bearer ${tape.pick(known.accessTokens)}`] : [])].map(
    (one) => ["authorization", one] as const,
  );
  return answeredRequest({ path: tape.pick(["/account/me", "/orders", "/books/stock"]), headers });
}

function changed(tape: Tape, token: string): string {
  switch (tape.below(7)) {
    case 0:
      return mutateText(tape, token);
    case 1:
      return withPart(tape, token, 0, "alg", JSON.stringify(tape.pick(ALGORITHMS)));
    case 2:
      return withPart(
        tape,
        token,
        0,
        tape.pick(["kid", "typ", "crit", "b64", "jwk", "jku", "x5u", "zip"]),
        oddJson(tape, 2),
      );
    case 3:
      return withPart(tape, token, 1, tape.pick(CLAIMS), oddJson(tape, 2));
    case 4:
      return withPart(tape, token, 1, "exp", tape.pick(["0", "-1", "1e21", '"1"', "null", "9999999999999"]));
    case 5:
      return tape.pick([
        CANARY,
        `${CANARY}.${CANARY}.${CANARY}`,
        "..",
        ".".repeat(500),
        "e30.e30.",
        "a".repeat(8_000),
        "W10.W10.W10",
      ]);
    default:
      return token;
  }
}

/** Sets one member of the header or of the payload. */
function withPart(tape: Tape, token: string, index: number, name: string, value: string): string {
  const parts = token.split(".");
  if (parts.length !== 3) return mutateText(tape, token);
  const text = Buffer.from(parts[index] ?? "", "base64url").toString();
  const member = `${JSON.stringify(name)}:${value}`;
  const written = tape.oneIn(4) ? mutateText(tape, text) : text.replace(/\}$/, `,${member}}`);
  const part = Buffer.from(written).toString("base64url");
  const signature = tape.oneIn(3) ? "" : (parts[2] ?? "");
  return parts.with(index, part).with(2, signature).join(".");
}
