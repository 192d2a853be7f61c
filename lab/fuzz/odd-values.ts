import type { Tape } from "./tape.ts";

const TEXTS: readonly string[] = [
  "",
  "book-1",
  "book-7",
  "author-1",
  "reader1",
  "title",
  "0",
  "1",
  "-1",
  "2147483648",
  "9007199254740993",
  "99999999999999999999",
  "1e309",
  "1.5",
  "NaN",
  "null",
  "true",
  "__proto__",
  "constructor",
  "toString",
  "then",
  "length",
  "\0",
  "a\0b",
  "\ud800",
  "\udc00x",
  "\u{1f4a9}",
  "\u202e",
  "\ufeff",
  "\u2028",
  "e\u0301".repeat(40),
  "ﬃ",
  "İ",
  "'",
  '"',
  "\\",
  "%",
  "%00",
  "%zz",
  "%c0%ae",
  "%ed%a0%80",
  "../../etc/passwd",
  "..%2f..%2f",
  "' or 1=1 --",
  "\\' or 1=1 --",
  "$1",
  "${7*7}",
  "{{7*7}}",
  "<script>",
  "\r\n",
  "\t",
  " ",
  "a".repeat(300),
  "a".repeat(5_000),
  "%41".repeat(200),
  "(".repeat(300),
  "\u0661",
  "0x10",
  "1_000",
  "[object Object]",
  "2020-01-01T00:00:00Z",
  "-infinity",
  "9780000000001",
];

/** A text that parsers, databases or templates may treat specially. */
export function oddText(tape: Tape): string {
  const kind = tape.below(10);
  if (kind < 7) return tape.pick(TEXTS);
  if (kind === 7) return tape.pick(TEXTS) + tape.pick(TEXTS);
  const end = kind === 8 ? 0x250 : 0x1_10_00;
  return String.fromCodePoint(...tape.some(12, () => tape.below(end) * (kind === 8 ? 1 : 0xf)));
}

const NUMBERS: readonly number[] = [0, 1, -1, 2, 1.5, 100, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 + 2, 1e21, 1e308, -1e-308];
const KEYS: readonly string[] = [
  "id",
  "a",
  "book",
  "title",
  "__proto__",
  "constructor",
  "prototype",
  "then",
  "toJSON",
  "length",
  "0",
];

/** A JSON value, as text, because an object in memory cannot have a key twice. */
export function oddJson(tape: Tape, depth = 3): string {
  switch (tape.below(depth > 0 ? 10 : 6)) {
    case 0:
      return "null";
    case 1:
      return JSON.stringify(tape.pick(NUMBERS));
    case 2:
    case 3:
      return JSON.stringify(oddText(tape));
    case 4:
      return tape.pick(["true", "false", "1e999", "-0", '"\\ud800"', '"\\u0000"', "0.1e1"]);
    case 5:
      return String(tape.below(200));
    case 6:
    case 7:
      return `[${tape.some(4, () => oddJson(tape, depth - 1)).join(",")}]`;
    default:
      return `{${tape.some(4, () => `${JSON.stringify(tape.pick(KEYS))}:${oddJson(tape, depth - 1)}`).join(",")}}`;
  }
}

const SPLICES: readonly string[] = ["", " ", "\0", "=", ".", "/", "%00", "+", "-", "_", "A", "é", '"', "\\", "{", "}"];

/** Changes a text in a few places: cuts, repeats, inserts, replaces and joins. */
export function mutateText(tape: Tape, text: string, splices: readonly string[] = SPLICES): string {
  let changed = text;
  for (let left = 1 + tape.below(3); left > 0; left--) changed = mutateOnce(tape, changed, splices);
  return changed;
}

function mutateOnce(tape: Tape, text: string, splices: readonly string[]): string {
  const from = tape.below(text.length + 1);
  const to = Math.min(text.length, from + 1 + tape.below(12));
  switch (tape.below(9)) {
    case 0:
      return text.slice(0, from);
    case 1:
      return text.slice(0, from) + text.slice(to);
    case 2:
      return text.slice(0, from) + tape.pick(splices) + text.slice(from);
    case 3:
      return text.slice(0, from) + tape.pick(splices) + text.slice(to);
    case 4:
      return text.slice(0, to) + text.slice(from, to).repeat(tape.pick([1, 2, 20, 200])) + text.slice(to);
    case 5:
      return (
        text.slice(0, from) +
        String.fromCharCode((text.charCodeAt(from) || 0) ^ (1 << tape.below(8))) +
        text.slice(from + 1)
      );
    case 6:
      return text + text;
    case 7:
      return text.toUpperCase();
    default:
      return text.slice(from) + text.slice(0, from);
  }
}
