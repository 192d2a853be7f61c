import {
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  locatedError,
  type OperationDefinitionNode,
} from "graphql";
import { isInstance, loggable, toError } from "../../../core/describe-error.ts";
import { ReportedErrors } from "../../errors/reported-errors.ts";
import { withoutStack } from "../../errors/without-stack.ts";
import { largeData } from "./large-data.ts";
import { objectLimitError } from "./object-limit-error.ts";
import type { Owner } from "./pending.ts";
import { ResolverSignal } from "./resolver-signal.ts";
import { Slices } from "./slices.ts";

/** The place of a value in the response, as graphql describes it in `info.path`. */
export interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
  readonly typename: string | undefined;
}

/** The facts about an operation that do not change between its executions. */
export interface OperationFrame {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
}

/** Called between two root fields of a mutation, with their results so far. Returns whether the next one may run. */
export type MayGoOn = (soFar: Pick<ExecutionResult, "data" | "errors">) => boolean;

/** The facts about one execution. */
export interface RunInput {
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  /** The coerced variables: an object in graphql 16, with `sources` and `coerced` in graphql 17. */
  readonly variableValues: unknown;
  /** The maximum number of objects; `Infinity` disables the limit. */
  readonly mostObjects: number;
  /** @default all root fields run */
  readonly mayGoOn?: MayGoOn | undefined;
  /** @default no batches */
  readonly holdBatches?: HoldBatches | undefined;
}

/** Keeps the batches of the operation open, until the function that it returns is called. */
export type HoldBatches = () => () => void;

/** The field, or the list item, that a value is completed for. */
export interface Slot {
  readonly nodes: readonly FieldNode[];
  readonly isNonNull: boolean;
}

/** The objects and items of a response that are processed without a pause. */
const MAX_AT_ONCE = 2_000;
const holdNone: HoldBatches = () => () => {};

/** Thrown through all fields after the execution has ended early. */
const OVER = new Error("The execution has ended");

/** The state of one execution of a plan. */
export class Run implements Owner {
  readonly frame: OperationFrame;
  readonly rootValue: unknown;
  readonly contextValue: unknown;
  readonly variableValues: unknown;
  /** The arguments that several calls of a field share, by the index of the field. */
  readonly args: unknown[] = [];
  /** Whether the result is complete: what is still running changes nothing. */
  isOver = false;
  objects = 0;
  /** How many items of lists were completed. */
  items = 0;
  /** Decides when a list pauses. */
  readonly slices: Slices = new Slices(this);
  readonly holdBatches: HoldBatches;
  readonly #mostObjects: number;
  readonly #mayGoOn: MayGoOn | undefined;
  #signal: ResolverSignal | null = null;
  readonly #errors = new ReportedErrors();
  /** The positions that are null because of an error; `undefined` is the root. */
  #nulled: Set<Path | undefined> | null = null;
  #result: ExecutionResult | null = null;
  #resolve: ((result: ExecutionResult) => void) | null = null;

  constructor(frame: OperationFrame, input: RunInput) {
    const { rootValue, contextValue, variableValues, mostObjects, mayGoOn, holdBatches = holdNone } = input;
    this.frame = frame;
    this.rootValue = rootValue;
    this.contextValue = contextValue;
    this.variableValues = variableValues;
    this.#mostObjects = mostObjects;
    this.#mayGoOn = mayGoOn;
    this.holdBatches = holdBatches;
  }

  get signal(): ResolverSignal {
    return (this.#signal ??= new ResolverSignal());
  }

  /** The result, after the data have been completed or have failed. */
  result(): ExecutionResult | Promise<ExecutionResult> {
    return (
      this.#result ??
      new Promise((resolve) => {
        this.#resolve = resolve;
      })
    );
  }

  /** The root object is complete. */
  settled(data: unknown): void {
    this.#end(data as ExecutionResult["data"]);
  }

  /** The root object became null. */
  failed(error: unknown): void {
    // An error that cannot be read has no location.
    this.report(isInstance(error, GraphQLError) ? error : unlocated(error), undefined);
    this.#end(null);
  }

  /** Whether the next root field of a mutation may run after those whose values are in `data`. */
  mayGoOn(data: Record<string, unknown>): boolean {
    return this.#mayGoOn?.({ data, errors: this.#errors.list() }) ?? true;
  }

  /** Counts an object of the response, and ends the execution if there are too many. Throws if the execution has ended. */
  countObject(): void {
    if (++this.objects > this.#mostObjects) this.#end(null, [objectLimitError(this.#mostObjects)]);
    if (this.isOver) throw OVER;
  }

  /**
   * Turns an error into null where the type allows it; throws the located error otherwise. A value that throws when it is read
   * cannot be located, so its error goes to the parent.
   */
  handle(raw: unknown, slot: Slot, path: Path): null {
    if (raw === OVER) throw OVER;
    this.slices.countError();
    const error = this.locate(raw, slot, path);
    if (slot.isNonNull) throw error;
    this.report(error, path);
    return null;
  }

  /** The stack is that of the error itself: one of the executor would say nothing, and cost more than the field. */
  locate(raw: unknown, { nodes }: Slot, path: Path): GraphQLError {
    return withoutStack(() => locatedError(loggable(raw), nodes, keysOf(path)));
  }

  /** Adds an error to the result, unless its position is already null because of another one. */
  report(error: GraphQLError, path: Path | undefined): void {
    const nulled = (this.#nulled ??= new Set());
    if (nulled.has(undefined)) return;
    for (let at = path; at !== undefined; at = at.prev) if (nulled.has(at)) return;
    nulled.add(path);
    this.#errors.add(error, path?.prev === undefined);
  }

  #end(data: ExecutionResult["data"], errors: readonly GraphQLError[] = this.#errors.list()): void {
    if (this.isOver) return;
    this.isOver = true;
    if (data && this.objects + this.items > MAX_AT_ONCE) largeData.add(data);
    this.#signal?.abort();
    this.#result = (errors.length === 0 ? { data } : { errors, data }) as ExecutionResult;
    this.#resolve?.(this.#result);
  }
}

function unlocated(error: unknown): GraphQLError {
  const originalError = toError(error);
  return new GraphQLError(originalError.message, { originalError });
}

function keysOf(path: Path): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at !== undefined; at = at.prev) keys.push(at.key);
  return keys.reverse();
}
