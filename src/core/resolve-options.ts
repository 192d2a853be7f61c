import { didYouMean } from "./advice/did-you-mean.ts";
import { ConfigurationError, describeKind, describeValue } from "./configuration-error.ts";

/** How one option is read: a description of valid values, and a function that returns the value to use. */
export interface OptionRule<T> {
  readonly expected: string;
  /** The value to use, or `REFUSED`. */
  readonly read: (value: unknown) => T | typeof REFUSED;
  /** The value if the option is left out. Without a fallback the option stays `undefined`. */
  readonly fallback?: T;
  /** The option must not be left out. */
  readonly required?: true;
  /** Rejects an option that is present but `undefined`: a gate that was meant to be there must not vanish. */
  readonly strict?: true;
  /** The value may be a secret, so the error describes only its kind. */
  readonly isSecret?: true;
  /** The index of the entry that made a list invalid; -1 if there is no such entry. */
  readonly wrongEntry?: (list: readonly unknown[]) => number;
}

export const REFUSED: unique symbol = Symbol("refused");

/** The resolved options. Options with a fallback and required options are always present. */
export type Resolved<R> = {
  readonly [K in keyof R]: R[K] extends { readonly fallback: infer T }
    ? T
    : R[K] extends OptionRule<infer T>
      ? R[K] extends { readonly required: true }
        ? T
        : T | undefined
      : never;
};

/** The options `O` once they are resolved. Those named in `Bare` have no default. */
export type Complete<O, Bare extends keyof O = never> = Required<Omit<O, Bare>> & {
  readonly [K in Bare]-?: O[K] | undefined;
};

/**
 * Reads an options object once, with one rule per option, and returns a complete, frozen object. The caller's object is not
 * changed. An unknown key or an invalid value throws a `ConfigurationError` that names the option.
 */
export function resolveOptions<const R extends Readonly<Record<string, OptionRule<any>>>>(
  owner: string,
  given: unknown,
  rules: R,
): Resolved<R> {
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new ConfigurationError(`${owner} options`, `must be an object, received ${describeKind(given)}`);
  for (const key of Object.keys(given)) {
    if (!Object.hasOwn(rules, key)) throw unknownOption(owner, key, Object.keys(rules));
  }
  const resolved: Record<string, unknown> = {};
  for (const [key, rule] of Object.entries(rules)) {
    const value = Object.hasOwn(given, key) ? (given as Record<string, unknown>)[key] : undefined;
    const isAbsent = value === undefined && !(rule.strict === true && Object.hasOwn(given, key));
    if (isAbsent && rule.required === true) throw new ConfigurationError(`${owner}.${key}`, "is missing");
    const read = isAbsent ? rule.fallback : rule.read(value);
    if (read === REFUSED) throw refused(`${owner}.${key}`, rule, value);
    resolved[key] = read;
  }
  return Object.freeze(resolved) as Resolved<R>;
}

/** The error for an invalid value. For a list it names the first invalid entry, or only its index if the entry may be a secret. */
export function refused(option: string, rule: Omit<OptionRule<unknown>, "read">, value: unknown): ConfigurationError {
  const { expected, isSecret = false, wrongEntry = () => -1 } = rule;
  const at = Array.isArray(value) ? wrongEntry(value) : -1;
  const entry = at < 0 ? "" : ` at [${at}]`;
  const culprit: unknown = at < 0 ? value : (value as readonly unknown[])[at];
  const received = isSecret ? describeKind(culprit) : at < 0 ? describeValue(culprit) : describeEntry(culprit);
  return new ConfigurationError(option, `must be ${expected}, received ${received}${entry}`);
}

/** Entries may be short lists themselves: `["created_at", "desc"]`. */
function describeEntry(entry: unknown): string {
  return Array.isArray(entry) && entry.length <= 3 ? `[${entry.map(describeValue).join(", ")}]` : describeValue(entry);
}

/** The error for an option that is not declared: with the option that was probably meant, or else all of them. */
export function unknownOption(owner: string, key: string, known: readonly string[]): ConfigurationError {
  const hint = didYouMean(key, known) ?? `The options are ${known.join(", ")}`;
  const error = new ConfigurationError(`${owner}:`, `unknown option "${key}". ${hint}`);
  return Object.assign(error, { option: `${owner}.${key}` });
}

/** The rule of an option that has a default. */
export type WithFallback<T> = OptionRule<T> & { readonly fallback: T };

/** Adds a fallback to a rule. */
export function optional<T, const F extends T>(rule: OptionRule<T>, fallback: F): WithFallback<T> {
  return { ...rule, fallback };
}

/** Rejects an option that is left out. */
export function required<R extends OptionRule<any>>(rule: R): R & { readonly required: true } {
  return { ...rule, required: true };
}

/** Rejects an option that is present but `undefined`. */
export function strict<R extends OptionRule<any>>(rule: R): R & { readonly strict: true } {
  return { ...rule, strict: true };
}

/** Accepts a value unchanged if `accepts` returns true. */
export function optionRule<T>(expected: string, accepts: (value: unknown) => boolean): OptionRule<T> {
  return { expected, read: (value) => (accepts(value) ? (value as T) : REFUSED) };
}

/**
 * A rule for objects and functions. The error never shows a string in their place, which may be a key or a store URL with its
 * password.
 */
export function thing<T>(expected: string, accepts: (value: unknown) => boolean): OptionRule<T> {
  return { ...optionRule<T>(expected, accepts), isSecret: true };
}

/** A rule for text that matches a pattern. */
export function textLike<T extends string = string>(expected: string, pattern: RegExp): OptionRule<T> {
  return optionRule<T>(expected, (value) => typeof value === "string" && pattern.test(value));
}

/** A rule for an object that is not a list. */
export function objectRule<T extends object>(expected: string): OptionRule<T> {
  return thing<T>(expected, (value) => typeof value === "object" && value !== null && !Array.isArray(value));
}

/** A rule for an object with some of these keys and no others. */
export function objectWith<T extends object>(...keys: readonly (keyof T & string)[]): OptionRule<T> {
  return thing<T>(
    `an object with ${listed(keys)}`,
    (value) =>
      typeof value === "object" && value !== null && Object.keys(value).every((key) => keys.includes(key as never)),
  );
}

/** A rule for an object with a method, such as a store. The error never shows a string in its place. */
export function withMethod<T extends object>(expected: string, method: keyof T): OptionRule<T> {
  return thing<T>(expected, (value) => typeof (value as Partial<T> | null | undefined)?.[method] === "function");
}

/** A rule for one of some words: `oneOf("allow", "block")`. */
export function oneOf<const T extends string>(...words: readonly [T, ...T[]]): OptionRule<T> {
  return optionRule<T>(listed(words.map(quoted)), (value) => words.includes(value as T));
}

/** A list of some of these words. It is copied. */
export function someOf<const T extends string>(...words: readonly T[]): OptionRule<readonly T[]> {
  return listOf<T>(`a list of ${listed(words.map(quoted), "and")}`, (entry) => words.includes(entry as T));
}

function quoted(word: string): string {
  return `"${word}"`;
}

/** `a, b or c` */
function listed(words: readonly string[], last = "or"): string {
  return words.join(", ").replace(/, ([^,]*)$/, ` ${last} $1`);
}

export function integerFrom(min: number, max: number, unit = ""): OptionRule<number> {
  return optionRule(
    `a whole number ${unit && `of ${unit} `}from ${min} to ${max.toLocaleString("en")}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  );
}

/** A duration that must not be zero. */
export function secondsUpTo(max: number): OptionRule<number> {
  return optionRule(
    `a number of seconds above 0, up to ${max}`,
    (value) => typeof value === "number" && value > 0 && value <= max,
  );
}

/** A rule for a value that is checked elsewhere, such as a secret, which an error must not show. */
export const anything: OptionRule<unknown> = { expected: "a value", read: (value) => value };
export const urlPath: OptionRule<`/${string}`> = textLike('a path that begins with "/"', /^\//);
export const text: OptionRule<string> = optionRule(
  "a non-empty string",
  (value) => typeof value === "string" && value !== "",
);
export const flag: OptionRule<boolean> = optionRule("true or false", (value) => typeof value === "boolean");
export const positiveInteger: OptionRule<number> = optionRule(
  "a positive integer",
  (value) => Number.isSafeInteger(value) && (value as number) > 0,
);
export const wholeNumber: OptionRule<number> = optionRule(
  "a whole number, 0 or more",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);

/** A rule for an option that `null` turns off. */
export function orNull<T>(rule: OptionRule<T>): OptionRule<T | null> {
  return { expected: `${rule.expected}, or null`, read: (value) => (value === null ? null : rule.read(value)) };
}

/** A rule for an option that `false` turns off. */
export function orFalse<T>(rule: OptionRule<T>): OptionRule<T | false> {
  return { expected: `${rule.expected}, or false`, read: (value) => (value === false ? false : rule.read(value)) };
}

/** A rule for an option that `true` turns on with its defaults, and `false` off. */
export function orFlag<T>(rule: OptionRule<T>): OptionRule<T | boolean> {
  const read = (value: unknown): T | boolean | typeof REFUSED =>
    typeof value === "boolean" ? value : rule.read(value);
  return { expected: `${rule.expected}, or true or false`, read };
}

/** A duration. Node's timers take at most 2^31 - 1 ms and fire at once beyond it. */
export const seconds: OptionRule<number> = optionRule(
  "a number of seconds from 0 to 2,147,483",
  (value) => typeof value === "number" && value >= 0 && value <= 2_147_483,
);
export const callable: OptionRule<(...args: any[]) => any> = thing(
  "a function",
  (value) => typeof value === "function",
);

/** A list in which `accepts` returns true for every entry. It is copied. */
export function listOf<T>(expected: string, accepts: (entry: unknown) => boolean): OptionRule<readonly T[]> {
  return {
    expected,
    wrongEntry: (list) => list.findIndex((entry) => !accepts(entry)),
    read: (value) =>
      Array.isArray(value) && value.every((entry) => accepts(entry)) ? Object.freeze([...(value as T[])]) : REFUSED,
  };
}

/** A list of texts, none of them empty. */
export function textList<T extends string = string>(expected: string): OptionRule<readonly T[]> {
  return listOf<T>(expected, (entry) => typeof entry === "string" && entry !== "");
}

export const columnList: OptionRule<readonly string[]> = textList("a list of columns");
