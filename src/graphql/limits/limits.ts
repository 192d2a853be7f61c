import { optional, orNull, positiveInteger, resolveOptions, wholeNumber } from "../../core/resolve-options.ts";

/** How much one operation may ask for. `null` turns a limit off and leaves the others on. */
export interface LimitsOptions {
  /** The budget: the sum of the `cost` of the selected fields. `null` also takes `extensions.cost` out of the answers. @default 5000 */
  readonly cost?: number | null;
  /** How deeply fields are nested, the innermost one included. @default 15 */
  readonly depth?: number | null;
  /** Fields that are given another name, which has at most 256 characters. @default 30 */
  readonly aliases?: number | null;
  /** Fields in the widest selection set. @default 100 */
  readonly breadth?: number | null;
  /** Fields altogether. @default 1000 */
  readonly fields?: number | null;
  /** Characters of the whole document, before anything of it is read. @default 65,536 */
  readonly characters?: number | null;
  /** Tokens of the whole document, comments included. @default 2000 */
  readonly tokens?: number | null;
  /** Directives altogether. @default 50 */
  readonly directives?: number | null;
}

/**
 * How much one operation may ask for, the same over HTTP, SSE and sockets. Fragments count wherever they are spread, what
 * `@skip` leaves out counts too, and nothing is exempt by its name; the standard introspection query fits the defaults.
 *
 * Throws `ConfigurationError` for a wrong value or an unknown name. Wherever a `Limits` is taken, a plain object is too.
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
    Object.freeze(this);
  }

  /** The limits themselves, or those that a plain object describes. */
  static from(value: Limits | LimitsOptions = {}): Limits {
    return value instanceof Limits ? value : new Limits(value);
  }
}

// None at all can be meant of these; of the others it would refuse every operation.
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
} as const;
