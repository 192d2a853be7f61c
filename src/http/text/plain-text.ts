declare const plain: unique symbol;

/** Short text of a client that may be shown, stored and logged. Only `plainText` and `withoutControls` make it. */
export type PlainText = string & { readonly [plain]: true };

/**
 * Control characters, line breaks and soft hyphens, characters that change the direction of the text around them, lone
 * surrogates, and noncharacters. Joiners are allowed, because emoji and some scripts need them.
 */
const UNPLAIN =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00AD\u202A-\u202E\u2066-\u2069\uFEFF\uFFF9-\uFFFB]|\p{Noncharacter_Code_Point}/gu;

/** Returns the text, or `null` if it is longer, or contains characters that no legitimate text needs. */
export function plainText(text: string, longest: number): PlainText | null {
  return text.length <= longest && text.search(UNPLAIN) < 0 ? (text as PlainText) : null;
}

/** Returns what is left of a text that must not be refused, such as a header that every browser sends. */
export function withoutControls(text: string, longest: number): PlainText {
  return text
    .slice(0, 8 * longest)
    .replace(UNPLAIN, "")
    .slice(0, longest)
    .toWellFormed()
    .trim() as PlainText;
}
