/** The directives of `Cache-Control` that restrict caches. They stay if one of several policies has them. */
const RESTRICTING: readonly string[] = [
  "private",
  "no-cache",
  "no-transform",
  "must-revalidate",
  "proxy-revalidate",
  "must-understand",
];
/** The directives that only shared caches obey. */
const FOR_SHARED: readonly string[] = ["public", "s-maxage", "proxy-revalidate"];
const NO_STORE = "no-store";
const MAX_AGE = "max-age";

/**
 * Joins two values of `Cache-Control` to one that allows only what both allow: `no-store` wins over everything, `private` over
 * `public`, and the shorter time over the longer.
 */
export function strictestCaching(before: string | undefined, added: string): string {
  if (before === undefined) return added;
  const [one, other] = [directivesIn(before), directivesIn(added)];
  if (other.has(NO_STORE)) return added;
  if (one.has(NO_STORE)) return before;
  const joined = new Map<string, string>();
  const isPrivate = one.has("private") || other.has("private");
  for (const [name, text] of [...one, ...other]) {
    if (isPrivate && FOR_SHARED.includes(name)) continue;
    if (RESTRICTING.includes(name) || (one.get(name) === text && other.get(name) === text)) joined.set(name, text);
  }
  const ages = [one, other].flatMap((directives) => ageIn(directives) ?? []);
  if (ages.length > 0) joined.set(MAX_AGE, `${MAX_AGE}=${Math.min(...ages)}`);
  return [...joined.values()].join(", ");
}

/** The value of `Cache-Control` for a response that depends on its caller: without what only shared caches obey. */
export function privateCaching(text: string): string {
  const kept = [...directivesIn(text)].filter(([name]) => name !== "private" && !FOR_SHARED.includes(name));
  return ["private", ...kept.map(([, directive]) => directive)].join(", ");
}

/** Whether a cache may store the response at all. */
export function isStorable(text: string): boolean {
  return !directivesIn(text).has(NO_STORE);
}

/** The directives by name, each as it is written. */
function directivesIn(text: string): ReadonlyMap<string, string> {
  const texts = text.split(",").flatMap((part) => part.trim() || []);
  return new Map(texts.map((directive) => [directive.split("=", 1)[0]?.trim().toLowerCase() ?? "", directive]));
}

/** The seconds of `max-age`. An invalid number is stale at once, as RFC 9111 recommends. */
function ageIn(directives: ReadonlyMap<string, string>): number | undefined {
  const text = directives.get(MAX_AGE)?.split("=")[1]?.trim().replaceAll('"', "");
  if (text === undefined) return directives.has(MAX_AGE) ? 0 : undefined;
  return /^\d+$/.test(text) ? Number(text) : 0;
}
