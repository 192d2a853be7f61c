import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from "graphql";
import type { MaybePromise } from "../../../core/maybe-promise.ts";
import { type Conditions, skipCondition } from "../../selection/collect-fields.ts";
import { fragmentRecordOf } from "../../selection/fragments-of.ts";
import type { BuildObject } from "./build-object.ts";
import { type CoercedVariables, coerceAsGraphql } from "./coerce-variables.ts";
import { isTraced } from "./is-traced.ts";
import { Pending } from "./pending.ts";
import { type HoldBatches, type MayGoOn, type OperationFrame, Run } from "./run.ts";
import { HOT_AFTER, SelectionCompiler } from "./selection-compiler.ts";
import { serialBuilder } from "./serial-builder.ts";

/** One execution of a plan. */
export interface PlanInput {
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  /** The variables as the client sent them. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The coerced variables, if they are already known. */
  readonly coerced?: CoercedVariables | null;
  readonly mostObjects: number;
  /** Asked between two root fields of a mutation. @default all of them run */
  readonly mayGoOn?: MayGoOn;
  /** Keeps the batches of loaders open while a list pauses. @default there are none */
  readonly holdBatches?: HoldBatches;
}

export interface PlanOptions {
  /**
   * The fields of the operation, with fragments counted each time they are spread. A plan that grows beyond twice as many
   * fields, because of interfaces or of variables in `@skip` and `@include`, is compiled anew.
   * @default no limit
   */
  readonly fields?: number;
  /** After how many objects the code of a selection is generated. @default 1000 */
  readonly hotAfter?: number;
}

/** The values of the variables in `@skip` and `@include` that a plan keeps a compiled form for. */
const MAX_VARIANTS = 8;
const NO_CONDITIONS: Conditions = new Map();

/**
 * An operation, compiled for execution. Its results and errors are those of graphql's `execute`, but the fields are collected
 * once instead of for every object, and arguments are coerced once instead of for every call.
 */
export class Plan {
  readonly #frame: OperationFrame;
  readonly #conditions: readonly string[];
  readonly #hotAfter: number;
  readonly #mostFields: number;
  readonly #variants = new Map<string, Variant>();

  private constructor(frame: OperationFrame, conditions: readonly string[], options: PlanOptions) {
    const { fields = Number.POSITIVE_INFINITY, hotAfter = HOT_AFTER } = options;
    this.#frame = frame;
    this.#conditions = conditions;
    this.#hotAfter = hotAfter;
    this.#mostFields = 2 * fields;
  }

  /** Compiles an operation of a valid document; `null` if only graphql can execute it. */
  static compile(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    options: PlanOptions = {},
  ): Plan | null {
    const conditions = conditionVariables(schema, document, operation);
    if (conditions === null) return null;
    return new Plan({ schema, operation, fragments: fragmentRecordOf(document) }, conditions, options);
  }

  /** Executes the operation. Returns `null`, before it has called anything, if only graphql can execute it this time. */
  execute(input: PlanInput): MaybePromise<ExecutionResult> | null {
    if (isTraced()) return null;
    const { rootValue, contextValue, mostObjects, mayGoOn, holdBatches } = input;
    const coerced = input.coerced ?? coerceAsGraphql(this.#frame.schema, this.#frame.operation, input.variables);
    if ("errors" in coerced) return { errors: coerced.errors };
    const conditions = this.#conditionsIn(coerced.values);
    if (conditions === null) return null;
    const variableValues = coerced.info;
    const run = new Run(this.#frame, { rootValue, contextValue, variableValues, mostObjects, mayGoOn, holdBatches });
    try {
      const variant = this.#variantFor(conditions);
      const data = variant.build(run, rootValue, undefined);
      if (data instanceof Pending) data.belongsTo(run);
      else run.settled(data);
    } catch (error) {
      run.failed(error);
    }
    return run.result();
  }

  /** The values of the variables in `@skip` and `@include`; `null` if one of them has none. */
  #conditionsIn(values: Readonly<Record<string, unknown>>): Conditions | null {
    if (this.#conditions.length === 0) return NO_CONDITIONS;
    const conditions = new Map<string, boolean | null>();
    for (const name of this.#conditions) {
      const value = values[name];
      if (typeof value !== "boolean" && value !== null) return null;
      conditions.set(name, value);
    }
    return conditions;
  }

  /** The form for these conditions. Throws if one on the root fields is null. */
  #variantFor(conditions: Conditions): Variant {
    const only = conditions === NO_CONDITIONS ? this.#variants.get("") : undefined;
    if (only?.compiler.isCurrent === true && only.compiler.size <= this.#mostFields) return only;
    const key = [...conditions.values()].map(String).join();
    this.#forgetIfLarge();
    const known = this.#variants.get(key);
    if (known?.compiler.isCurrent === true) return known;
    const variant = compileVariant(this.#frame, conditions, this.#hotAfter);
    for (const oldest of this.#variants.keys()) {
      if (this.#variants.size < MAX_VARIANTS) break;
      this.#variants.delete(oldest);
    }
    this.#variants.set(key, variant);
    return variant;
  }

  #forgetIfLarge(): void {
    let fields = 0;
    for (const { compiler } of this.#variants.values()) fields += compiler.size;
    if (fields > this.#mostFields) this.#variants.clear();
  }
}

interface Variant {
  readonly compiler: SelectionCompiler;
  readonly build: BuildObject;
}

function compileVariant(
  { schema, operation, fragments }: OperationFrame,
  conditions: Conditions,
  hotAfter: number,
): Variant {
  const rootType = schema.getRootType(operation.operation);
  if (!rootType) throw new Error(`The schema has no type for a ${operation.operation}`);
  const compiler = new SelectionCompiler({ schema, fragments, conditions }, hotAfter);
  const sets = [operation.selectionSet];
  const isSerial = operation.operation === OperationTypeNode.MUTATION;
  const build = isSerial ? serialBuilder(compiler.shape(rootType, sets)) : compiler.builder(rootType, sets);
  return { compiler, build };
}

/**
 * The variables that decide which fields of a document are selected, or `null` if a plan cannot execute the operation and
 * graphql has to.
 */
function conditionVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): readonly string[] | null {
  if (!schema.getRootType(operation.operation)) return null;
  // graphql 17 rejects such a schema, or executes incrementally.
  if (schema.getDirective("defer") || schema.getDirective("stream")) return null;
  if (operation.directives?.some(({ name }) => name.value === "experimental_disableErrorPropagation") === true)
    return null;
  const variables = new Set<string>();
  let isCovered = true;
  visit(document, {
    [Kind.DIRECTIVE]: (node) => {
      if (node.name.value !== "skip" && node.name.value !== "include") return;
      const condition = skipCondition(node);
      if (condition === undefined) isCovered = false;
      if (typeof condition === "string") variables.add(condition);
    },
  });
  return isCovered ? [...variables] : null;
}
