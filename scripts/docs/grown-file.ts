/** A block of a page that is a part of a file: it is there already, or it is added to the file. */
export interface Growth {
  readonly code: string;
  /** The beginning of the statement that the block replaces, or that it precedes; none if the block is in the file already. */
  readonly at: { readonly how: "instead of" | "above"; readonly statement: string } | null;
}

const BLOCK = /^<!-- app\.ts(?:: (?<how>instead of|above) (?<statement>.+?))? -->\n```ts excerpt\n(?<code>.*?)^```$/gms;

/** The parts of `app.ts` that a page shows, in their order. */
export function growthsIn(page: string): readonly Growth[] {
  return [...page.matchAll(BLOCK)].map(({ groups }) => {
    const { how, statement = "", code = "" } = groups ?? {};
    return { code, at: how === undefined ? null : { how: how as "above", statement } };
  });
}

/** Returns the file with the block. Throws if the block or its place is not in the file exactly once. */
export function grow(file: string, { code, at }: Growth): string {
  if (at === null) {
    // A page has shorter lines than the file.
    expectOnce(squeezed(file), squeezed(code));
    return file;
  }
  expectOnce(file, `\n${at.statement}`);
  const start = file.indexOf(`\n${at.statement}`) + 1;
  const end = at.how === "above" ? start : file.indexOf(";\n", start) + 2;
  return file.slice(0, start) + code + (at.how === "above" ? "\n" : "") + file.slice(end);
}

function expectOnce(file: string, text: string): void {
  if (file.split(text).length !== 2) throw new Error(`not in the file exactly once: ${text}`);
}

/** The text without what a formatter decides. */
function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, "").replaceAll(/,(?=[)\]}])/g, "");
}
