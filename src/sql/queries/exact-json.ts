/** Returns a value as JSON that keeps apart what JSON would not: a bigint from a text, and infinity from null. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, exact);
}

function exact(_key: string, value: unknown): unknown {
  const isExact = typeof value !== "bigint" && (typeof value !== "number" || Number.isFinite(value));
  return isExact ? value : { [typeof value]: String(value) };
}
