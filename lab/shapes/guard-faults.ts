import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** A change of the guard that the generator must notice. */
interface GuardFault {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The engine that shows it, if it is one alone. */
  readonly only?: "PostgreSQL" | "SQLite";
}

const transformer = "src/sql/guard/guard-transformer.ts";
const places = "src/sql/guard/placed.ts";
const conditions = "src/sql/conditions/condition-expression.ts";

export const guardFaults: Readonly<Record<string, GuardFault>> = {
  "the condition of a left join in WHERE": { file: places, from: "!NULLABLE.has(join.joinType)", to: "true" },
  "no derived table in a full join": { file: places, from: "condition === null || !isReversed", to: "true" },
  "the author's condition without parentheses": { file: places, from: "ParensNode.create(own)", to: "own" },
  "a CTE that hides its table too early": {
    file: transformer,
    from: "hidesAll ? names : names.slice(0, index)",
    to: "names",
    only: "PostgreSQL",
  },
  "a CTE that hides the table of a rule, on PostgreSQL": {
    file: transformer,
    from: "new Set([...this.#defined].map((name) => name.toLowerCase()))",
    to: "new Set()",
    only: "PostgreSQL",
  },
  "a CTE that hides the table of a rule, on SQLite": {
    file: transformer,
    from: '...(engine === "sqlite" && this.#defined.size > 0 && { schema: "main" }),',
    to: '...(engine === "sqlite" && { hidden: new Set<string>() }),',
    only: "SQLite",
  },
  "a condition that is guarded again": {
    file: transformer,
    from: "return ParensNode.create(conditionExpression(engine, condition, place));",
    to: "return this.transformNode(ParensNode.create(conditionExpression(engine, condition, place)));",
  },
  "an upsert without a condition": { file: transformer, from: "...(isUpsert && {", to: "...(false && {" },
  "no check after an update": {
    file: transformer,
    from: "return this.#touches(target, node.updates) ? this.#checked(out, target, isRoot) : out;",
    to: "return out;",
  },
  "no check after an insert": {
    file: transformer,
    from: "return this.#checked(out, target, isRoot);\n  }\n\n  #writable",
    to: "return out;\n  }\n\n  #writable",
  },
  "a write that checks what can be read": {
    file: transformer,
    from: 'this.#condition(target, "write");\n    return condition === null ? []',
    to: 'this.#condition(target, "read");\n    return condition === null ? []',
  },
  "a write without a probe": { file: transformer, from: "if (isRoot) this.#probe(", to: "if (false) this.#probe(" },
  "a null that meets no inverted condition": {
    file: conditions,
    from: "[...(exact === null ? [] : [exact]), isNull(column)]",
    to: "(exact === null ? [] : [exact])",
  },
};

/** Changes the guard in this process, which must not have loaded it. */
export function plantGuardFault(name: string): GuardFault {
  const fault = guardFaults[name];
  if (fault === undefined) throw new Error(`choose one of: ${Object.keys(guardFaults).join("; ")}`);
  const file = fileURLToPath(new URL(`../../${fault.file}`, import.meta.url));
  const source = readFileSync(file, "utf8");
  if (!source.includes(fault.from)) throw new Error(`${fault.file} has no text ${fault.from}: change guard-faults.ts`);
  const changed = source.replaceAll(fault.from, fault.to);
  registerHooks({
    load: (url, context, next) =>
      url.startsWith("file:") && fileURLToPath(url) === file
        ? { format: "module-typescript", source: changed, shortCircuit: true }
        : next(url, context),
  });
  return fault;
}
