/** Classifies a statement by its first word. If it may be either, it is a write, as are several statements in one text. */
export function statementKind(text: string): "read" | "write" | "end" {
  if (/^\s*(?:commit|rollback|release)\b/i.test(text)) return "end";
  // The beginning of a transaction with the setting of the caller.
  if (text.startsWith("begin; select set_config(")) return "read";
  if (/;\s*\S/.test(text)) return "write";
  return /^\s*(?:select|values|table|explain(?!.*\banaly[sz]e\b))\b/is.test(text) ? "read" : "write";
}
