import { parseArgs } from "node:util";
import { propertySeed } from "../seeds/property-seed.ts";
import type { Form, Part } from "./part.ts";

/** What the command line asks for. */
export interface NightlyOptions {
  readonly parts: readonly Part[];
  readonly form: Form;
  readonly shows: "nothing" | "list" | "names";
  /** Of this run, if it is given. */
  readonly seed?: number;
}

const options = {
  only: { type: "string", multiple: true },
  short: { type: "boolean" },
  list: { type: "boolean" },
  names: { type: "boolean" },
  seed: { type: "string" },
} as const;

/** Throws a RangeError that names an unknown option or part, and the known ones. */
export function readOptions(args: readonly string[], known: readonly Part[]): NightlyOptions {
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    const given = token.kind === "option" ? token.rawName : token.kind === "positional" ? token.value : "--";
    const option = token.kind === "option" && Object.hasOwn(options, token.name) ? options[token.name as Name] : null;
    if (option === null)
      throw new RangeError(
        `${given} is not an option of the nightly run: use ${Object.keys(options).map(dashed).join(", ")}`,
      );
    const value = token.kind === "option" ? token.value : undefined;
    if (option.type === "string" && value === undefined) throw new RangeError(`${given} needs a value`);
    if (option.type === "boolean" && value !== undefined)
      throw new RangeError(`${given} takes no value, but ${value} is given`);
  }
  const { only = [], short, list, names, seed } = values as Values;
  const chosen = only.flatMap((some) => some.split(",")).filter((name) => name !== "");
  const unknown = chosen.find((name) => !known.some((part) => part.name === name));
  if (unknown !== undefined)
    throw new RangeError(
      `${unknown} is not a part of the nightly run: use ${known.map((part) => part.name).join(", ")}`,
    );
  return {
    parts: chosen.length === 0 ? known : known.filter(({ name }) => chosen.includes(name)),
    form: short ? "short" : "long",
    shows: names ? "names" : list ? "list" : "nothing",
    ...(seed === undefined ? {} : { seed: propertySeed(seed) }),
  };
}

type Name = keyof typeof options;

interface Values {
  readonly only?: readonly string[];
  readonly short?: boolean;
  readonly list?: boolean;
  readonly names?: boolean;
  readonly seed?: string;
}

function dashed(name: string): string {
  return `--${name}`;
}
