import type { GuardedEngine } from "../statements/sql-dialect.ts";
import { unguarded } from "./unguarded.ts";

/**
 * The functions that a statement through a guard may call: those of the database that read their arguments, the clock or chance,
 * and nothing else, and those that the application has named. A function that executes SQL, reads a table by its name, a file, a
 * setting or another session, or changes anything is not among them.
 */
export class KnownFunctions {
  readonly #builtIn: ReadonlySet<string>;
  readonly #own: ReadonlySet<string>;
  readonly #rows: ReadonlySet<string>;

  /** @param own the functions that the application has named */
  constructor(engine: GuardedEngine, own: readonly string[] = []) {
    this.#builtIn = new Set([...COMMON, ...SCALAR[engine], ...ROWS[engine]]);
    this.#own = new Set(own.map((name) => name.toLowerCase()));
    this.#rows = new Set([...ROWS[engine], ...this.#own]);
  }

  /** Throws for the name of a function that may read a table. */
  check(name: string): void {
    if (this.#builtIn.has(plain(name)) || this.#own.has(plain(name))) return;
    throw unguarded(
      `the function ${name.replaceAll(QUOTED, "?").slice(0, 60)}, which may read a table. If it reads nothing but its arguments, name it in openDatabase.pureFunctions; otherwise, use database.asSystem("why")`,
    );
  }

  /** Whether a function that the application has not named has the name of one of the database that may be called. */
  isOverloaded(name: string): boolean {
    return this.#builtIn.has(name) && !this.isNamed(name);
  }

  /** Whether the application has named a function. */
  isNamed(name: string): boolean {
    return this.#own.has(name);
  }

  /** Whether a function may stand in the place of a table. */
  hasRows(name: string): boolean {
    return this.#rows.has(plain(name));
  }

  /** Throws for a call of such a function in SQL that has no quotes. */
  checkCalls(sql: string): void {
    const tokens = [...sql.matchAll(/[a-z_]\w*|[^\sa-z_]/gi)].map(([token]) => token);
    tokens.forEach((token, at) => {
      const word = tokens[at - 1] ?? "";
      if ((token !== "(" && token !== EXPRESSION) || !/^[a-z_]/i.test(word)) return;
      const name = tokens[at - 2] === "." ? `${tokens[at - 3] ?? ""}.${word}` : word;
      if (!BEFORE_PARENTHESES.has(name.toLowerCase())) this.check(name);
    });
  }
}

/** Stands for the text or the value of a parameter, which is never in parentheses. */
export const VALUE = "\uFFFB";
/** Stands for a quoted name. */
export const QUOTED = "\uFFFC";
/** Stands for an expression that may begin with a parenthesis. */
export const EXPRESSION = "\uFFFA";

/** Whether a text is the name of a function, with or without its schema. */
export function isFunctionName(text: unknown): boolean {
  return typeof text === "string" && /^(?:[a-z_]\w*\.)?[a-z_]\w*$/i.test(text);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/^pg_catalog\./, "");
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The words of the grammar, among them types with a length, that may stand before a parenthesis and call nothing. */
const BEFORE_PARENTHESES: ReadonlySet<string> = new Set(
  words(`
    all and any array as between both by case cast cube distinct else escape except exists filter first for from glob group having
    ilike in interval is leading like limit match next not offset on or order over overlaps partition placing regexp rollup row sets
    similar some symmetric then to trailing values variadic when where window within zone
    bigint bit char character decimal double float int integer numeric precision real smallint text time timestamp timestamptz timetz
    varchar varying current_time current_timestamp localtime localtimestamp
  `),
);

const COMMON = words(`
  abs acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 mod pi pow power radians round sign
  sin sinh sqrt tan tanh trunc random coalesce nullif length octet_length lower upper ltrim rtrim trim replace substr substring concat
  concat_ws format date time avg count max min sum string_agg percentile_cont percentile_disc
  cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
  json_array json_object any all some
`);

const SCALAR: Readonly<Record<GuardedEngine, readonly string[]>> = {
  postgres: words(`
    acosd asind atan2d atand cbrt cosd cot cotd div erf erfc factorial gcd gamma lcm lgamma min_scale random_normal scale sind tand
    trim_scale width_bucket greatest least num_nonnulls num_nulls
    ascii bit_count bit_length btrim casefold char_length character_length chr initcap left lpad normalize is_normalized overlay parse_ident
    position quote_ident quote_literal quote_nullable regexp_count regexp_instr regexp_like regexp_match regexp_replace
    regexp_split_to_array regexp_substr repeat reverse right rpad split_part starts_with string_to_array strpos to_hex to_bin to_oct translate
    unistr crc32 crc32c decode encode convert convert_from convert_to get_bit get_byte md5 set_bit set_byte sha224 sha256 sha384 sha512
    age clock_timestamp date_add date_bin date_part date_subtract date_trunc extract isfinite justify_days justify_hours justify_interval
    make_date make_interval make_time make_timestamp make_timestamptz now statement_timestamp timeofday timezone transaction_timestamp
    to_char to_date to_number to_timestamp
    array_agg array_append array_cat array_dims array_fill array_length array_lower array_ndims array_position array_positions
    array_prepend array_remove array_replace array_reverse array_sample array_shuffle array_sort array_to_json array_to_string array_upper
    cardinality trim_array
    any_value bit_and bit_or bit_xor bool_and bool_or corr covar_pop covar_samp every json_agg json_agg_strict json_arrayagg json_objectagg
    json_object_agg json_object_agg_strict json_object_agg_unique jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict
    jsonb_object_agg_unique mode range_agg range_intersect_agg regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope
    regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp var_pop var_samp variance grouping
    json_array_length json_build_array json_build_object json_exists json_extract_path json_extract_path_text json_query json_scalar
    json_serialize json_strip_nulls json_typeof json_value jsonb_array_length jsonb_build_array jsonb_build_object jsonb_extract_path
    jsonb_extract_path_text jsonb_insert jsonb_object jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz
    jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz jsonb_pretty jsonb_set
    jsonb_set_lax jsonb_strip_nulls jsonb_typeof row_to_json to_json to_jsonb
    daterange int4range int8range numrange tsrange tstzrange datemultirange int4multirange int8multirange nummultirange tsmultirange
    tstzmultirange isempty lower_inc lower_inf multirange range_merge upper_inc upper_inf
    array_to_tsvector json_to_tsvector jsonb_to_tsvector numnode phraseto_tsquery plainto_tsquery querytree setweight
    strip to_tsquery to_tsvector ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsquery_phrase tsvector_to_array websearch_to_tsquery
    abbrev broadcast family host hostmask inet_merge inet_same_family masklen netmask network set_masklen
    area box center circle diagonal diameter height isclosed isopen line lseg npoints path pclose point polygon popen slope width
    bool bpchar bytea float4 float8 inet int2 int4 int8 json jsonb macaddr money name tsquery tsvector uuid
    gen_random_uuid uuidv4 uuidv7 uuid_extract_timestamp uuid_extract_version pg_typeof
  `),
  sqlite: words(`
    char glob group_concat hex if ifnull iif instr like likelihood likely log2 median percentile printf quote randomblob soundex total typeof
    unhex unicode unistr unistr_quote unlikely zeroblob datetime julianday strftime timediff unixepoch
    json json_array_insert json_array_length json_error_position json_extract json_group_array json_group_object json_insert json_patch
    json_pretty json_quote json_remove json_replace json_set json_type json_valid
    jsonb jsonb_array jsonb_array_insert jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch
    jsonb_remove jsonb_replace jsonb_set
  `),
};

/** The functions that may stand in the place of a table. */
const ROWS: Readonly<Record<GuardedEngine, readonly string[]>> = {
  postgres: words(`
    generate_series generate_subscripts json_array_elements json_array_elements_text json_each json_each_text json_object_keys
    json_populate_record json_populate_recordset jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys
    jsonb_path_query jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset regexp_matches regexp_split_to_table
    string_to_table unnest
  `),
  sqlite: words("generate_series json_each json_tree jsonb_each jsonb_tree"),
};
