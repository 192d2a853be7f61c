const KNOWN = new Set(["select", "insert", "update", "delete", "merge", "with", "begin", "commit", "rollback"]);

/** The first word of a statement in lower case, such as `select`; `other` for words that few statements begin with. */
export function statementVerb(sql: string): string {
  const word = /^\s{0,100}([a-z]{1,20})\b/i.exec(sql)?.[1]?.toLowerCase() ?? "";
  return KNOWN.has(word) ? word : "other";
}
