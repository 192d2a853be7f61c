/** At most so many characters of a text; where some are left out, it ends in three dots. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}
