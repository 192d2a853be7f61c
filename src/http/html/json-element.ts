/** An element that hands data to the scripts of a page. Whatever is in it cannot end it, and no browser runs it. */
export function jsonElement(id: string, value: unknown): string {
  const json = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `<script type="application/json" id="${id}">${json}</script>`;
}
