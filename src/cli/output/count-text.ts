/** A number with its noun: `1 user`, `2 users`. */
export function countText(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
