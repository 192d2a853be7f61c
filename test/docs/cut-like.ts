/** Cuts the strings of a response short where the sample on the page does, which then ends them in "...". */
export function cutLike(sample: unknown, value: unknown): unknown {
  if (typeof sample === "string" && typeof value === "string")
    return sample.endsWith("...") && value.startsWith(sample.slice(0, -3)) ? sample : value;
  if (typeof sample !== "object" || sample === null || typeof value !== "object" || value === null) return value;
  const cut = Object.entries(value).map(([key, part]) => [
    key,
    cutLike((sample as Record<string, unknown>)[key], part),
  ]);
  return Array.isArray(value) ? cut.map(([, part]) => part) : Object.fromEntries(cut);
}
