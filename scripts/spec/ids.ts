interface Numbered {
  readonly stem: string;
  readonly number: number;
}

/**
 * The ids that `text` stands for: itself, or every known id whose number lies in a range such as `RES-01..RES-46`.
 * Throws when the range is malformed, or one of its ends is not known.
 */
export function expandIds(text: string, known: readonly string[]): string[] {
  const [first = "", last, ...rest] = text.split("..");
  if (last === undefined) return [first];
  const { stem, number: from } = splitId(first);
  const { stem: sameStem, number: to } = splitId(last);
  if (rest.length > 0 || stem !== sameStem || from > to || !known.includes(first) || !known.includes(last)) {
    throw new Error(`"${text}" is not a range of known ids`);
  }
  return known.filter((id) => {
    const { stem: other, number } = splitId(id);
    return other === stem && number >= from && number <= to;
  });
}

/** Ids in the order given, runs of three and more written as a range: `RES-01..RES-03, RES-07`. */
export function foldIds(ids: readonly string[]): string {
  const runs: string[][] = [];
  for (const id of ids) {
    const run = runs.at(-1);
    if (run !== undefined && follows(run.at(-1) ?? "", id)) run.push(id);
    else runs.push([id]);
  }
  return runs.map((run) => (run.length < 3 ? run.join(", ") : `${run[0]}..${run.at(-1)}`)).join(", ");
}

function follows(before: string, after: string): boolean {
  const a = splitId(before);
  const b = splitId(after);
  return a.stem === b.stem && a.number + 1 === b.number;
}

function splitId(id: string): Numbered {
  const digits = /\d+$/.exec(id)?.[0] ?? "";
  return { stem: id.slice(0, id.length - digits.length), number: Number(digits) };
}
