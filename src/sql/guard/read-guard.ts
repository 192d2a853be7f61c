import { ConfigurationError } from "../../core/configuration-error.ts";
import { unknownOption } from "../../core/resolve-options.ts";
import type { Gate } from "../../kernel/access/gate.ts";
import { type GateNode, isMadeOfConditions } from "../../kernel/access/gate-node.ts";
import { gateNodeOf } from "../../kernel/access/read-gate.ts";

/** The gates of a table; `null` for all rows. */
export interface TableGates {
  readonly read: GateNode | null;
  readonly write: GateNode | "closed" | null;
}

/** Reads the option. Throws `ConfigurationError` for a gate that is not a condition on columns. */
export function readGuard(given: unknown): ReadonlyMap<string, TableGates> {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new ConfigurationError(
      OPTION,
      'rules by table, such as { projects: { read, write }, countries: "open" }',
      given,
    );
  return new Map(Object.entries(given).map(([table, rules]) => [table, tableGates(`${OPTION}.${table}`, rules)]));
}

const OPTION = "openDatabase.guard";
const OPEN: TableGates = { read: null, write: null };

function tableGates(place: string, rules: unknown): TableGates {
  if (rules === "open") return OPEN;
  if (typeof rules !== "object" || rules === null)
    throw new ConfigurationError(place, '{ read, write } or "open"', rules);
  const unknown = Object.keys(rules).find((key) => !VERBS.includes(key));
  if (unknown !== undefined) throw unknownOption(place, unknown, VERBS);
  const { read, write } = rules as { readonly read?: unknown; readonly write?: unknown };
  return {
    read: gateOf(`${place}.read`, read, '"open"'),
    write: write === "closed" ? write : gateOf(`${place}.write`, write, '"open" or "closed"'),
  };
}

const VERBS: readonly string[] = ["read", "write"];

function gateOf(place: string, given: unknown, words: string): GateNode | null {
  if (given === "open") return null;
  const isGate = typeof (given as Gate | null | undefined)?.check === "function";
  const node = isGate ? gateNodeOf(given as Gate) : null;
  if (node === null || !isMadeOfConditions(node))
    throw new ConfigurationError(
      place,
      `must be a rule with where, every(), some() or not() of such rules and of permissions, or ${words}`,
    );
  return node;
}
