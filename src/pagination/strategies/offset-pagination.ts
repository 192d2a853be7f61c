import { filterParameters } from "../filter/filter-parameters.ts";
import { type Filterable, type FilterFields, filterFields } from "../filter/filterable.ts";
import { type Totals, totalSchema } from "../handlers/totals.ts";
import { LinkMaker } from "../query/links.ts";
import { InvalidPageError } from "../query/pagination-error.ts";
import type { ParameterDescription } from "../query/parameter-description.ts";
import { type QueryParams, readPosition, readSize, type SizeLimits } from "../query/query-params.ts";
import {
  BasePaginationStrategy,
  linksSchema,
  type PageFacts,
  type PaginationOptions,
  type StrategyDescription,
  sizeLimits,
} from "./base-pagination-strategy.ts";

/** The query parameter that says where a page starts: its number or an offset. */
interface PositionParameter {
  readonly name: string;
  readonly least: number;
  readonly fallback: number;
  readonly description: string;
}

/** The query parameter that says how many items a page has. */
interface SizeParameter {
  readonly name: string;
  /** The option of the default size, for the error when it exceeds the maximum. */
  readonly option: string;
  readonly limits: Omit<SizeLimits, "overMax">;
  readonly description: string;
}

/** A page as its metadata describes it. */
export interface OffsetWindow {
  readonly position: number;
  readonly size: number;
  readonly totalItems: number | null;
  /** `totalItems`, or `null` if it does not say where the list ends: beyond a cap, and for an estimate. */
  readonly end: number | null;
  readonly hasMore: boolean;
  /** The link to a page. */
  readonly to: (position: number, size?: number) => string;
}

/** The base of the strategies with a position and a size in the query: page numbers and offsets. */
export abstract class OffsetPagination<M extends object, C extends string> extends BasePaginationStrategy<
  readonly [position: number, size: number],
  M,
  C
> {
  override readonly totals: Totals;
  /** @internal */
  override readonly filters: FilterFields | null;
  override readonly outOfRange: "empty" | "error";
  override readonly linkHeader: boolean;
  readonly #position: PositionParameter;
  readonly #size: SizeParameter;
  readonly #limits: SizeLimits;
  readonly #isSizeFirst: boolean;
  readonly #dropped: readonly string[];

  /** @internal `isSizeFirst` sets the order of the parameters in links and in the OpenAPI document. */
  constructor(
    owner: string,
    options: Required<PaginationOptions> & { readonly totals: Totals; readonly filterable: Filterable | undefined },
    {
      position,
      size,
      isSizeFirst = false,
    }: { position: PositionParameter; size: SizeParameter; isSizeFirst?: boolean },
  ) {
    super();
    this.totals = options.totals;
    this.outOfRange = options.outOfRange;
    this.linkHeader = options.linkHeader;
    this.#position = position;
    this.#size = size;
    this.#limits = sizeLimits(size.option, { ...size.limits, overMax: options.overMax });
    this.filters = filterFields(owner, options.filterable, {
      taken: [position.name, size.name],
      omitFromLinks: options.omitFromLinks,
    });
    this.#isSizeFirst = isSizeFirst;
    this.#dropped = [position.name, size.name, ...options.omitFromLinks];
  }

  /** @internal */
  protected abstract offsetOf(position: number, size: number): number;
  /** @internal */
  protected abstract metadataOf(window: OffsetWindow): M;
  /** @internal The JSON Schema of the metadata other than `total_items` and `links`. */
  protected abstract metadataSchema(): Readonly<Record<string, unknown>>;

  override get positionParameter(): string {
    return this.#position.name;
  }

  override parseParameters(requestParams: QueryParams): readonly [position: number, size: number] {
    const { name, least, fallback } = this.#position;
    const position = readPosition(requestParams, name, least, fallback);
    return [position, readSize(requestParams, this.#size.name, this.#limits)];
  }

  override calculateOffsetLimit(position: number, size: number): readonly [offset: number, limit: number] {
    const offset = this.offsetOf(position, size);
    if (Number.isSafeInteger(offset + size)) return [offset, size];
    throw new InvalidPageError(`${this.#position.name} is too large`, { parameter: this.#position.name });
  }

  override generateMetadata(
    totalItems: number | null,
    _items: readonly unknown[],
    baseUrl: string,
    requestParams: QueryParams,
    facts?: PageFacts,
  ): M {
    const [position, size] = this.parseParameters(requestParams);
    const maker = new LinkMaker(baseUrl, requestParams, facts?.search, this.#dropped);
    return this.metadataOf({
      position,
      size,
      totalItems,
      end: facts?.isBeyondCap === true || facts?.isEstimate === true ? null : totalItems,
      hasMore: facts?.hasMore ?? (totalItems !== null && this.offsetOf(position, size) + size < totalItems),
      to: (start, length = size) =>
        maker.to(this.#inOrder([this.#position.name, start] as const, [this.#size.name, length] as const)),
    });
  }

  override describe(): StrategyDescription {
    const { name, least, fallback, description } = this.#position;
    const limits = this.#limits;
    const properties = {
      total_items: totalSchema(this.totals),
      ...this.metadataSchema(),
      links: linksSchema("first", "last", "prev", "next"),
    };
    return {
      parameters: [
        ...this.#inOrder<ParameterDescription>(
          { name, description, schema: { type: "integer", minimum: least, default: fallback } },
          {
            name: this.#size.name,
            description: this.#size.description,
            schema: { type: "integer", minimum: limits.least, maximum: limits.max, default: limits.fallback },
          },
        ),
        ...filterParameters(this.filters),
      ],
      metadata: { type: "object", properties, required: Object.keys(properties) },
    };
  }

  #inOrder<T>(position: T, size: T): readonly [T, T] {
    return this.#isSizeFirst ? [size, position] : [position, size];
  }
}
