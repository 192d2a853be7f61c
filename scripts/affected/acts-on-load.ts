/**
 * Whether a module has an effect when it is loaded that neither a call of its functions nor a use of its exports shows: a
 * statement outside of declarations, an import without names, or an export of everything. Formatted code has these, and nothing
 * else, at the start of a line. A line of a template string can look like one, which only selects too much.
 */
export function actsOnLoad(text: string): boolean {
  return text.split("\n").some((line) => /^(?:import ["']|export \*)/.test(line) || !DECLARATION.test(line));
}

const DECLARATION =
  /^(?:$|[\s})\]>`/*@#{]|(?:import|export|const|let|type|interface|declare|enum|namespace|function|class|async function|abstract class)\b|if \(import\.meta\.main\))/;
