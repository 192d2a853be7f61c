import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
} from "graphql";
import { isGraphql17 } from "../../selection/is-graphql17.ts";
import { type CompleteValue, type CompletingSlot, completeSlot } from "./complete-slot.ts";
import { emptyArgs, type ReadArgs } from "./field-args.ts";
import { type AsIs, asIsOf, isAsIs } from "./is-as-is.ts";
import { isThenable } from "./pending.ts";
import type { Path, Run } from "./run.ts";

type Resolver = GraphQLFieldResolver<unknown, unknown>;

/** The parts of a field in a plan. */
export interface FieldParts {
  readonly key: string;
  readonly def: GraphQLField<unknown, unknown>;
  readonly parentType: GraphQLObjectType;
  readonly nodes: readonly FieldNode[];
  readonly isNonNull: boolean;
  /** The scalar or enum of the field, without `!`; `null` for other types. */
  readonly leafType: GraphQLLeafType | null;
  readonly complete: CompleteValue;
}

/** One field of an object in a plan. */
export abstract class PlanField implements CompletingSlot {
  /** The name in the response. */
  readonly key: string;
  readonly name: string;
  readonly type: GraphQLOutputType;
  readonly parentType: GraphQLObjectType;
  readonly nodes: readonly FieldNode[];
  readonly isNonNull: boolean;
  readonly complete: CompleteValue;
  readonly #def: GraphQLField<unknown, unknown>;
  readonly #resolve: Resolver | undefined;

  constructor({ key, def, parentType, nodes, isNonNull, complete }: FieldParts) {
    this.key = key;
    this.name = def.name;
    this.type = def.type;
    this.parentType = parentType;
    this.nodes = nodes;
    this.isNonNull = isNonNull;
    this.complete = complete;
    this.#def = def;
    this.#resolve = def.resolve;
  }

  /** Whether the field of the schema still has the resolver that the plan was compiled for. */
  get isCurrent(): boolean {
    return this.#def.resolve === this.#resolve;
  }

  /** Resolves and completes the field. Throws only an error that the parent has to handle. */
  abstract take(run: Run, source: unknown, parent: Path | undefined): unknown;

  protected pathIn(parent: Path | undefined): Path {
    return { prev: parent, key: this.key, typename: this.parentType.name };
  }
}

/** A field with a resolver, or with arguments. */
export class ResolverField extends PlanField {
  readonly #run: Resolver;
  readonly #args: ReadArgs;

  constructor(parts: FieldParts, args: ReadArgs) {
    super(parts);
    this.#run = parts.def.resolve ?? defaultFieldResolver;
    this.#args = args;
  }

  take(run: Run, source: unknown, parent: Path | undefined): unknown {
    const path = this.pathIn(parent);
    const info = resolveInfo(run, this, path);
    const resolve = this.#run;
    let value: unknown;
    run.slices.countCall();
    try {
      value = resolve(source, this.#args(run), run.contextValue, info);
    } catch (error) {
      return run.handle(error, this, path);
    }
    return completeSlot(run, this, info, path, value);
  }
}

/** A field without a resolver: the property of the same name, or the result of the method of that name. */
export class PlainField extends PlanField {
  /** Which values are already in their final form. */
  readonly asIs: AsIs | null;
  readonly #isLeaf: boolean;

  constructor(parts: FieldParts) {
    super(parts);
    this.asIs = asIsOf(parts.leafType);
    this.#isLeaf = parts.leafType !== null;
  }

  take(run: Run, source: unknown, parent: Path | undefined): unknown {
    let value: unknown;
    try {
      value = readable(source)[this.name];
    } catch (error) {
      return this.failRead(run, parent, error);
    }
    return isAsIs(this.asIs, value) ? value : this.takeValue(run, source, parent, value);
  }

  /** Completes the value that was read from the property. */
  takeValue(run: Run, source: unknown, parent: Path | undefined, value: unknown): unknown {
    if (typeof value === "function") return this.#call(run, source as Callable, parent);
    if (!this.#isLeaf) {
      const path = this.pathIn(parent);
      return completeSlot(run, this, resolveInfo(run, this, path), path, value);
    }
    // A leaf that is already there needs neither a path nor an info.
    try {
      if (!isThenable(value)) return this.complete(run, null, null, value);
    } catch (error) {
      return run.handle(error, this, this.pathIn(parent));
    }
    return completeSlot(run, this, null, this.pathIn(parent), value);
  }

  /** Handles the error of a getter. */
  failRead(run: Run, parent: Path | undefined, error: unknown): null {
    return run.handle(error, this, this.pathIn(parent));
  }

  #call(run: Run, source: Callable, parent: Path | undefined): unknown {
    const path = this.pathIn(parent);
    const info = resolveInfo(run, this, path);
    let value: unknown;
    run.slices.countCall();
    try {
      // Read again, as graphql does: the method may depend on its receiver.
      value = source[this.name](emptyArgs(), run.contextValue, info);
    } catch (error) {
      return run.handle(error, this, path);
    }
    return completeSlot(run, this, info, path, value);
  }
}

type Callable = any;

const NOTHING: Readonly<Record<string, unknown>> = Object.freeze(Object.create(null) as Record<string, unknown>);

/** The object to read properties from. As in graphql, other values than objects and functions have none. */
export function readable(source: unknown): Readonly<Record<string, unknown>> {
  const isReadable = (typeof source === "object" && source !== null) || typeof source === "function";
  return isReadable ? (source as Record<string, unknown>) : NOTHING;
}

/** The facts about a field that its resolver receives in `info`. */
interface InfoSource {
  readonly name: string;
  readonly nodes: readonly FieldNode[];
  readonly type: GraphQLOutputType;
  readonly parentType: GraphQLObjectType;
}

/** Builds graphql's resolve info, with the members that the installed major has. */
const resolveInfo: (run: Run, field: InfoSource, path: Path) => GraphQLResolveInfo = isGraphql17
  ? (run, field, path) => {
      const { getAbortSignal, getAsyncHelpers } = run.signal;
      return Object.assign(infoOf16(run, field, path), { getAbortSignal, getAsyncHelpers });
    }
  : infoOf16;

function infoOf16(run: Run, field: InfoSource, path: Path): GraphQLResolveInfo {
  const { schema, fragments, operation } = run.frame;
  return {
    fieldName: field.name,
    // A resolver that changes its list must not change the plan.
    fieldNodes: [...field.nodes],
    returnType: field.type,
    parentType: field.parentType,
    path,
    schema,
    fragments,
    rootValue: run.rootValue,
    operation,
    variableValues: run.variableValues as GraphQLResolveInfo["variableValues"],
  };
}
