/** Removes control characters: names come from users, and these could be terminal escape sequences. */
export function printable(line: string): string {
  return line.replace(CONTROL, "");
}

/** The value as JSON. Its strings are complete, and no control character reaches a terminal. */
export function jsonText(data: unknown): string {
  return JSON.stringify(data, null, 2).replace(CONTROL, (text) => (text === "\n" ? text : escaped(text)));
}

/** Control and format characters, such as those that change the direction of the text. */
const CONTROL = /\p{C}/gu;

function escaped(text: string): string {
  return Array.from({ length: text.length }, (_, at) => {
    return `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");
}
