import type { StandardSchemaV1 } from "@standard-schema/spec";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { isPromise } from "../../core/maybe-promise.ts";
import type { Schema } from "../../http/routing/schema.ts";
import { segmentKey } from "../../kernel/exceptions/segment-key.ts";
import { ResolverError } from "../declare/references/resolver-error.ts";
import type { AnyRef, InputNode, NamedNode, WrapperNode } from "../declare/references/type-node.ts";
import type { CompleteInput } from "./input-completion.ts";

/** The path to the value that is being validated, and the issues found so far. */
export interface InputFindings {
  readonly path: (string | number)[];
  readonly issues: StandardSchemaV1.Issue[];
}

/** Returns the output of every schema in a completed input. `null` if the type of the input has no schema. */
export type Validate = ((value: unknown, findings: InputFindings) => unknown) | null;

/** Looks up a node through thunks, classes and names; `place` names the reference in errors. */
type PlacedLookup = (place: string, ref: AnyRef) => NamedNode | WrapperNode;

/** Validates inputs with the schemas of their types, at any depth. Null and omitted values are not validated. */
export class InputValidation {
  readonly #lookup: PlacedLookup;
  readonly #inputs = new Map<InputNode, Validate>();
  readonly #withoutSchema = new Set<InputNode>();

  constructor(lookup: PlacedLookup) {
    this.#lookup = lookup;
  }

  of(place: string, ref: AnyRef): Validate {
    const node = this.#lookup(place, ref);
    if (node.kind === "validated") return validator(place, node.schema);
    if (node.kind === "input") return this.#input(node);
    if (!("of" in node)) return null;
    const validate = this.of(place, node.of);
    if (validate === null) return null;
    return node.kind === "list" ? unlessAbsent(eachItem(validate)) : unlessAbsent(validate);
  }

  #input(node: InputNode): Validate {
    const known = this.#inputs.get(node);
    if (known !== undefined) return known;
    const validate = this.#hasSchema(node) ? unlessAbsent(this.#eachField(node)) : null;
    this.#inputs.set(node, validate);
    return validate;
  }

  #eachField(node: InputNode): NonNullable<Validate> {
    let fields: (readonly [name: string, validate: NonNullable<Validate>])[] | null = null;
    return (value, findings) => {
      // Built at the first value, because an input object may contain itself.
      fields ??= node.fields.flatMap(([name, { type }]) => {
        const validate = this.of(`${node.name}.${name}`, type);
        return validate === null ? [] : [[name, validate] as const];
      });
      const validated = { ...(value as Readonly<Record<string, unknown>>) };
      for (const [name, validate] of fields)
        if (validated[name] !== undefined) validated[name] = below(name, validate, validated[name], findings);
      return validated;
    };
  }

  /** Whether a schema can be reached from the fields of an input object. */
  #hasSchema(root: InputNode): boolean {
    const seen = new Set([root]);
    for (const input of seen) {
      for (const [name, { type }] of input.fields) {
        const place = `${input.name}.${name}`;
        let node = this.#lookup(place, type);
        while ("of" in node && node.kind !== "validated") node = this.#lookup(place, node.of);
        if (node.kind === "validated") return true;
        if (node.kind === "input" && !this.#withoutSchema.has(node)) seen.add(node);
      }
    }
    for (const input of seen) this.#withoutSchema.add(input);
    return false;
  }
}

/** Throws `ConfigurationError` if the default of an argument or input field does not match its schema. */
export function checkDefault(place: string, value: unknown, complete: CompleteInput, validate: Validate): void {
  if (validate === null) return;
  const issues: StandardSchemaV1.Issue[] = [];
  validate(complete === null ? value : complete(value), { path: [], issues });
  const [first] = issues;
  if (first === undefined) return;
  const path = (first.path ?? []).map(segmentKey).join(".");
  throw new ConfigurationError(
    place,
    `has a default that does not match its schema: ${path === "" ? "" : `${path}: `}${first.message}`,
  );
}

function validator(place: string, schema: Schema): NonNullable<Validate> {
  return unlessAbsent((value, { path, issues }) => {
    const result = schema["~standard"].validate(value);
    if (isPromise(result)) {
      // Its rejection would otherwise end the process.
      void Promise.resolve(result).catch(() => undefined);
      throw new ResolverError(
        place,
        "its schema validates asynchronously, which arguments do not support. Make the check in the resolver",
      );
    }
    if (result.issues === undefined) return result.value;
    for (const { message, path: inner = [] } of result.issues) issues.push({ message, path: [...path, ...inner] });
    return undefined;
  });
}

function eachItem(validate: NonNullable<Validate>): NonNullable<Validate> {
  return (value, findings) =>
    (value as readonly unknown[]).map((item, index) => below(index, validate, item, findings));
}

function below(
  key: string | number,
  validate: NonNullable<Validate>,
  value: unknown,
  findings: InputFindings,
): unknown {
  findings.path.push(key);
  const validated = validate(value, findings);
  findings.path.pop();
  return validated;
}

function unlessAbsent(validate: NonNullable<Validate>): NonNullable<Validate> {
  return (value, findings) => (value === null || value === undefined ? value : validate(value, findings));
}
