import { hash } from "node:crypto";
import { type DocumentNode, type GraphQLError, type GraphQLSchema, Kind, type OperationDefinitionNode } from "graphql";
import { isInstance } from "../../core/describe-error.ts";
import { graphRefusal } from "../errors/graph-refusal.ts";
import { schemaFields } from "../limits/asks-for-schema.ts";
import type { Limits } from "../limits/limits.ts";
import { DocumentCache } from "./document-cache.ts";
import { hideSuggestions } from "./hide-suggestions.ts";
import { type Executor, type Prepared, type PreparedFor, prepareOperation } from "./prepare-operation.ts";
import { checkLength, type ReadDocument, readDocument } from "./read-document.ts";

export interface PreparerOptions {
  readonly limits: Limits;
  /** Whether clients may read the schema and receive suggestions from it. */
  readonly introspection: boolean;
  /** Approximate memory for prepared documents, in bytes. @default 32 MiB */
  readonly cacheBytes?: number;
  /** @default "portico" */
  readonly executor?: Executor;
}

/** The operation that a request names, from a document that parses. Only `prepare` checks it. */
export interface ChosenOperation {
  readonly operation: OperationDefinitionNode;
  readonly entry: Entry;
}

/** Prepares documents against one schema, and caches the valid ones. */
export class Preparer {
  readonly #for: PreparedFor;
  // Rejected documents are not cached: rejecting them is cheap, attackers send a new one each time, and other clients do not
  // send the same one again.
  readonly #cache: DocumentCache<Entry>;

  constructor(schema: GraphQLSchema, options: PreparerOptions) {
    const { limits, introspection, cacheBytes = 32 * 1024 * 1024, executor = "portico" } = options;
    this.#for = { schema, limits, introspection, schemaFields: schemaFields(schema), executor };
    this.#cache = new DocumentCache(cacheBytes);
  }

  /**
   * Finds the operation that a request names. Throws `GraphRefusal` for the first of these that is wrong: the length of the
   * document, the number of its tokens, its syntax, the name of the operation.
   */
  choose(source: string, operationName: string | null): ChosenOperation {
    checkLength(source, this.#for.limits);
    const key = keyOf(source);
    const entry = (key === null ? undefined : this.#cache.get(key)) ?? this.#read(source, key);
    const known = entry.chosen.get(operationName);
    if (known !== undefined) return { operation: known, entry };
    const operation = chooseOperation(entry.document, operationName);
    entry.chosen.set(operationName, operation);
    return { operation, entry };
  }

  /**
   * Makes a chosen operation ready for execution. Throws `GraphRefusal` for the first of these that is wrong: the structural
   * limits, the validity of the document, introspection while it is off.
   */
  prepare({ operation, entry }: ChosenOperation): Prepared {
    const { prepared, key, bytes } = entry;
    const before = prepared.get(operation);
    if (before !== undefined) return before;
    const isKept = prepared.size > 0;
    const made = shallow(() => prepareOperation(this.#for, entry, operation, isKept));
    prepared.set(operation, made);
    if (key !== null && !isKept) this.#cache.set(key, entry, bytes + BYTES_PER_FIELD * made.structure.fields);
    return made;
  }

  /** Removes suggestions from an error of graphql while introspection is off. */
  show(error: GraphQLError): GraphQLError {
    return this.#for.introspection ? error : hideSuggestions(error);
  }

  #read(source: string, key: string | null): Entry {
    const read = shallow(() => readDocument(source, this.#for.limits));
    return { ...read, key, bytes: estimatedBytes(source, read.tokens), chosen: new Map(), prepared: new Map() };
  }
}

/** A document with its prepared operations: once there is one, the whole document is known to be valid. */
interface Entry extends ReadDocument {
  /** Its key in the cache; `null` for a document that is not cached. */
  readonly key: string | null;
  /** The approximate memory that it takes. */
  readonly bytes: number;
  /** The operations that requests have named; `null` is the key for the only one. */
  readonly chosen: Map<string | null, OperationDefinitionNode>;
  readonly prepared: Map<OperationDefinitionNode, Prepared>;
}

/** V8 hashes a string of more than 16,383 characters by its length alone, so many long keys would be slow to look up. */
const MAX_KEY_LENGTH = 8_192;
/** Begins the key of a long text. A short text that begins with it is not cached, so that it cannot name a long one. */
const HASHED = "#sha256 ";

/** The key of a document in the cache: its text, or the hash of a long text. `null` for a text that cannot be a key. */
function keyOf(source: string): string | null {
  if (source.length <= MAX_KEY_LENGTH) return source.startsWith(HASHED) ? null : source;
  // The hash is of UTF-8, which encodes every unpaired surrogate as the same character.
  return source.isWellFormed() ? HASHED + hash("sha256", source, "base64") : null;
}

function chooseOperation({ definitions }: DocumentNode, name: string | null): OperationDefinitionNode {
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const [chosen, another] =
    name === null ? operations : operations.filter((operation) => operation.name?.value === name);
  if (chosen === undefined)
    throw graphRefusal(
      "OPERATION_RESOLUTION_FAILURE",
      name === null
        ? "The document contains no operation"
        : "The document contains no operation with the name in operationName",
    );
  if (another !== undefined && name === null)
    throw graphRefusal(
      "OPERATION_RESOLUTION_FAILURE",
      "The document contains several operations. Set operationName to choose one.",
    );
  return chosen;
}

/** Turns a stack overflow into a refusal, because graphql's parser and some of its rules recurse. */
function shallow<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (isInstance(error, RangeError))
      throw graphRefusal("GRAPHQL_VALIDATION_FAILED", "The document is nested too deeply");
    throw error;
  }
}

/**
 * As measured on graphql 16 and 17: a token takes 270 bytes together with its nodes, and the plan of its operation as many. The
 * text is kept too.
 */
function estimatedBytes(source: string, tokens: number): number {
  return 2 * source.length + 540 * tokens + 3_500;
}

/** A plan also has the fields of fragments each time they are spread, and of both cases of a condition. */
const BYTES_PER_FIELD = 700;
