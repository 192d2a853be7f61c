/** Shortens a text to at most `most` characters; a shortened text ends in three dots. */
export function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}
