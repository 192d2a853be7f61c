// @ts-expect-error the package has no types
import parseText from "parse-prometheus-text-format";

/** A family of metrics as the parser gives it. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly metrics: readonly { readonly labels?: Readonly<Record<string, string>>; readonly value?: string }[];
}

/** One series: its labels, and its value. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const parse = parseText as (text: string) => readonly Family[];

/** The families that the text declares. */
export function familiesIn(text: string): readonly string[] {
  return parse(text).map(({ name, type, help }) => `${name} ${type} ${help === "" ? "" : "with help"}`);
}

/** All series of the text. Read without its types: the parser throws the series of a histogram with labels together. */
export function samplesIn(text: string): readonly Sample[] {
  const untyped = text.replaceAll(/^#.*\n/gm, "");
  return parse(untyped).flatMap(({ name, metrics }) =>
    metrics.map(({ labels = {}, value }) => ({ name, labels, value: Number(value) })),
  );
}
