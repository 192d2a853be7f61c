const TRIVIA = /(?:\s|\/\/[^\n\r\u2028\u2029]*|\/\*(?:[^*]|\*(?!\/))*\*\/)*/y;
// Bundlers may escape letters outside of ASCII: \u00e9 or \u{e9}.
const WORD = /(?:[\p{ID_Continue}$\u200c\u200d]|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]+\})+/uy;
const TEXT = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'/y;
const REGEXP = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
// After these tokens a slash starts a regular expression; after any other it is a division.
const BEFORE_REGEXP =
  /(?:^|[=([{,;:?!&|+\-*%<>~^]|\b(?:return|typeof|void|in|of|delete|await|yield|case|instanceof|new))\s*$/;

/** Reads the source of a function. The engine has already parsed it, so the reader can rely on valid syntax. */
export class SourceReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Whether the source continues with `text` after spaces and comments. */
  isAt(text: string): boolean {
    this.#match(TRIVIA);
    return this.#source.startsWith(text, this.#at);
  }

  /** Skips `text` if it comes next. */
  take(text: string): boolean {
    if (!this.isAt(text)) return false;
    this.#at += text.length;
    return true;
  }

  /** Reads the next name, number or quoted key; `null` if something else comes next. */
  word(): string | null {
    this.#match(TRIVIA);
    const quoted = this.#match(TEXT);
    if (quoted !== null) return unescape(quoted.slice(1, -1));
    const word = this.#match(WORD);
    return word === null ? null : unescape(word);
  }

  /**
   * Skips everything up to one of the characters `ends` outside of brackets, strings, comments and regular expressions.
   */
  skipExpression(ends: string): void {
    let depth = 0;
    while (this.#at < this.#source.length) {
      this.#match(TRIVIA);
      const next = this.#source[this.#at];
      if (next === undefined || (depth === 0 && ends.includes(next))) return;
      if (this.#match(TEXT) !== null) continue;
      if (next === "`") {
        this.#skipTemplate();
        continue;
      }
      if (next === "/" && this.#isRegExp() && this.#match(REGEXP) !== null) continue;
      if ("([{".includes(next)) depth++;
      else if (")]}".includes(next)) depth--;
      if (this.#match(WORD) === null) this.#at++;
    }
  }

  #skipTemplate(): void {
    for (this.#at++; this.#at < this.#source.length; this.#at++) {
      const next = this.#source[this.#at];
      if (next === "\\") this.#at++;
      else if (next === "`") {
        this.#at++;
        return;
      } else if (next === "$" && this.#source[this.#at + 1] === "{") {
        this.#at += 2;
        this.skipExpression("}");
      }
    }
  }

  #isRegExp(): boolean {
    return BEFORE_REGEXP.test(
      this.#source.slice(Math.max(0, this.#at - 40), this.#at).replace(/\/\*[\s\S]*?\*\//g, ""),
    );
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    if (found === undefined) return null;
    this.#at += found.length;
    return found;
  }
}

function unescape(text: string): string {
  return text
    .replace(
      /\\u\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})/g,
      (_, long: string | undefined, short, hex) => String.fromCodePoint(Number.parseInt(long ?? short ?? hex, 16)),
    )
    .replace(/\\(["'\\])/g, "$1");
}
