import { HttpException } from "../exceptions/http-exception.ts";

/** Visible characters of ASCII. Without a quote, and without a comma, because Node joins several headers with one. */
const KEY = /^[!#-+\--~]{1,255}$/;
/** A string of a structured field (RFC 9651): the form of the draft for the header. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;

/** Reads `Idempotency-Key`, quoted or not. Throws 400 for any other text; `null` without the header. */
export function keyInHeader(header: string | readonly string[] | undefined): string | null {
  if (header === undefined) return null;
  const quoted = QUOTED.exec(String(header))?.[1];
  return checkKey(quoted === undefined ? header : quoted.replace(/\\(.)/g, "$1"), "Idempotency-Key");
}

/** Reads `extensions.idempotencyKey` of an operation. */
export function keyInExtensions({ idempotencyKey }: Readonly<Record<string, unknown>>): string | null {
  return (idempotencyKey ?? null) === null ? null : checkKey(idempotencyKey, "extensions.idempotencyKey");
}

function checkKey(value: unknown, place: string): string {
  if (typeof value === "string" && KEY.test(value)) return value;
  throw new HttpException(
    400,
    `${place} must have 1 to 255 visible ASCII characters, without spaces, quotes and commas`,
    {
      code: "IDEMPOTENCY_KEY_INVALID",
    },
  );
}
