import { expandIds } from "./ids.ts";
import { tableRows } from "./tables.ts";

/**
 * The rows of `spec/waiting.md` that concern `known`, as id and the part it waits for.
 * A row of a corpus begins with the corpus' name (`graphql A1..A30`); a row of the clauses has no name.
 * Throws on an id that is not known or stands twice.
 */
export function waitingFor(markdown: string, known: readonly string[], corpus?: string): Map<string, string> {
  const waiting = new Map<string, string>();
  for (const [text = "", part = ""] of tableRows(markdown)) {
    const [name, range] = text.includes(" ") ? (text.split(" ", 2) as [string, string]) : [undefined, text];
    if (name !== corpus) continue;
    for (const id of expandIds(range, known)) {
      if (!known.includes(id)) throw new Error(`spec/waiting.md: "${text}" is in no table`);
      if (waiting.has(id)) throw new Error(`spec/waiting.md: "${id}" waits twice`);
      waiting.set(id, part);
    }
  }
  return waiting;
}

/** The corpora that `spec/waiting.md` names. */
export function corporaWaiting(markdown: string): string[] {
  const names = tableRows(markdown).flatMap(([text = ""]) => (text.includes(" ") ? [text.split(" ")[0] ?? ""] : []));
  return [...new Set(names)];
}
