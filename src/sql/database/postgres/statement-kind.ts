/** Classifies a statement by its first word. If it may be either, it is a write. */
export function statementKind(text: string): "read" | "write" | "end" {
  if (/^\s*(?:commit|rollback|release)\b/i.test(text)) return "end";
  return /^\s*(?:select|values|table|explain)\b/i.test(text) ? "read" : "write";
}
