import type { GuardData, GuardRow, GuardRule, GuardTable } from "./guard-case.ts";

/** Whether a row meets a rule, in JavaScript. */
export function meetsRule(rule: GuardRule, row: GuardRow, data: GuardData, caller: number): boolean {
  const value = "column" in rule ? row[rule.column as "org"] : null;
  switch (rule.kind) {
    case "always":
    case "never":
      return rule.kind === "always";
    case "equal":
      return value === (rule.value === "caller" ? caller : rule.value);
    case "less":
      return value !== null && value < rule.value;
    case "in":
      return value !== null && rule.values.includes(value);
    case "columns":
      return row.org === row.ref;
    case "related":
    case "exists":
      return (
        value !== null &&
        data[rule.from as GuardTable].some(
          (other) => other[rule.column as "org"] === value && meetsRule(rule.where, other, data, caller),
        )
      );
    case "all":
      return rule.of.every((one) => meetsRule(one, row, data, caller));
    case "any":
      return rule.of.some((one) => meetsRule(one, row, data, caller));
    case "not":
      return !meetsRule(rule.of, row, data, caller);
  }
}

/** Whether a rule reads a table. */
export function readsTable(rule: GuardRule, table: string): boolean {
  if (rule.kind === "related" || rule.kind === "exists") return rule.from === table || readsTable(rule.where, table);
  if (!("of" in rule)) return false;
  return [rule.of].flat().some((one: GuardRule) => readsTable(one, table));
}
