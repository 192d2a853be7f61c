/** The question that ends a message about an unknown name, if a known one resembles it: `Did you mean "auth"?` */
export function didYouMean(written: string, known: readonly string[]): string | null {
  const near = nearest(written, known);
  return near === undefined ? null : `Did you mean "${near}"?`;
}

/** The name that was probably meant, if any: one typo away, otherwise one that begins alike. */
function nearest(key: string, known: readonly string[]): string | undefined {
  const written = key.toLowerCase();
  return (
    known.find((name) => isNear(name.toLowerCase(), written)) ??
    known.find((name) => beginsAlike(name.toLowerCase(), written))
  );
}

/** Whether two names are one typo apart: a letter too many, too few, wrong, or two in the wrong order. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  const start = sharedStart(a, b);
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [restA, restB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return restA.length <= 1 && restB.length <= 1
    ? true
    : restA.length === 2 && restA[0] === restB[1] && restA[1] === restB[0];
}

const MIN_START = 4;

/**
 * Whether one name is the start of the other (`handler`, `handlerSeconds`), or they differ in their last letters (`proxy`,
 * `proxies`).
 */
function beginsAlike(a: string, b: string): boolean {
  const start = sharedStart(a, b);
  return start >= MIN_START && (start === Math.min(a.length, b.length) || start >= Math.max(a.length, b.length) * 0.75);
}

function sharedStart(a: string, b: string): number {
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  return start;
}
