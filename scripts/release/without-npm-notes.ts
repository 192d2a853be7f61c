/** The text of a page without the notes on what to do until the packages are on npm, which a published README must not have. */
export function withoutNpmNotes(page: string): string {
  return page.replaceAll(/<!-- before npm -->\n.*?<!-- end of before npm -->\n+/gs, "");
}
