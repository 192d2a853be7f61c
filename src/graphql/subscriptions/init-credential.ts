/** The headers that a browser cannot send at an upgrade. */
const CREDENTIALS: readonly string[] = ["authorization", "x-api-key"];
/** As Node takes them in a header. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** The credential in the payload of `connection_init`, as headers; `null` without one. The case of the names does not matter. */
export function initCredential(payload: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> | null {
  const found = Object.entries(payload).filter(
    (entry): entry is [string, string] =>
      CREDENTIALS.includes(entry[0].toLowerCase()) && typeof entry[1] === "string" && VALUE.test(entry[1]),
  );
  return found.length === 0
    ? null
    : Object.fromEntries(found.map(([name, value]) => [name.toLowerCase(), value.trim()]));
}
