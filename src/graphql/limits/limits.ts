import { optional, orNull, positiveInteger, resolveOptions, wholeNumber } from "../../core/resolve-options.ts";

/** The limits of one operation. `null` disables a limit and leaves the others on. */
export interface LimitsOptions {
  /**
   * The budget: the sum of the `cost` of the selected fields. `null` also removes `extensions.cost` from responses.
   * @default 5000
   */
  readonly cost?: number | null;
  /** How deeply fields may nest, including the innermost field. @default 15 */
  readonly depth?: number | null;
  /** Aliases, of which each may have 256 characters. @default 30 */
  readonly aliases?: number | null;
  /** Fields in the widest selection set. @default 100 */
  readonly breadth?: number | null;
  /** Fields in total. @default 1000 */
  readonly fields?: number | null;
  /** Characters of the whole document, checked before it is parsed. @default 65,536 */
  readonly characters?: number | null;
  /** Tokens of the whole document, comments included. @default 2000 */
  readonly tokens?: number | null;
  /** Directives in total. @default 50 */
  readonly directives?: number | null;
  /** Objects in the response, counted while it is executed. @default 100,000 */
  readonly objects?: number | null;
  /**
   * Values in the variables: the items of lists, and for each input object the fields that its type declares. They are coerced
   * without a pause. @default 50,000
   */
  readonly values?: number | null;
}

/**
 * The limits of one operation, over HTTP, SSE and WebSockets alike. Fragments count each time they are spread,
 * selections under `@skip` count too, and no field is exempt. The standard introspection query is within the defaults.
 *
 * Throws `ConfigurationError` for an invalid value or an unknown name. Every option that accepts a `Limits` also
 * accepts a plain object.
 *
 * @example
 * ```ts
 * import { Limits } from "portico/graphql";
 *
 * export const limits = new Limits({ cost: 2000, depth: 10, aliases: null });
 * ```
 */
export class Limits implements Required<LimitsOptions> {
  readonly cost: number | null;
  readonly depth: number | null;
  readonly aliases: number | null;
  readonly breadth: number | null;
  readonly fields: number | null;
  readonly characters: number | null;
  readonly tokens: number | null;
  readonly directives: number | null;
  readonly objects: number | null;
  readonly values: number | null;

  constructor(options: LimitsOptions = {}) {
    const read = resolveOptions("Limits", options, rules);
    this.cost = read.cost;
    this.depth = read.depth;
    this.aliases = read.aliases;
    this.breadth = read.breadth;
    this.fields = read.fields;
    this.characters = read.characters;
    this.tokens = read.tokens;
    this.directives = read.directives;
    this.objects = read.objects;
    this.values = read.values;
    Object.freeze(this);
  }

  /** Returns the limits, or creates them from a plain object. */
  static from(value: Limits | LimitsOptions = {}): Limits {
    return value instanceof Limits ? value : new Limits(value);
  }
}

// 0 is a useful value for these limits. For the others it would reject every operation.
const count = orNull(wholeNumber);
const extent = orNull(positiveInteger);

const rules = {
  cost: optional(count, 5000),
  depth: optional(extent, 15),
  aliases: optional(count, 30),
  breadth: optional(extent, 100),
  fields: optional(extent, 1000),
  characters: optional(extent, 65_536),
  tokens: optional(extent, 2000),
  directives: optional(count, 50),
  objects: optional(extent, 100_000),
  values: optional(extent, 50_000),
} as const;
