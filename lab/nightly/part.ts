/** The long form searches, and the short form shows within seconds or minutes that a part still works. */
export type Form = "long" | "short";

/** A program that a part runs. */
export interface Command {
  readonly run: readonly string[];
  /** The major version of Node that `node` stands for, also in the processes that it starts. The present one by default. */
  readonly node?: number;
  /** Added to the environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** One part of the nightly run. */
export interface Part {
  readonly name: string;
  /** What it searches for, as in a table. */
  readonly does: string;
  /** How long it usually takes on two cores. */
  readonly minutes: Readonly<Record<Form, number>>;
  /** Packages with their own lock file, which are installed before. */
  readonly needs?: readonly string[];
  /** The major version of Node that it is about, if that is not the one that runs it. */
  readonly node?: number;
  /** The last line that the last of them prints is the figure of the part. After a command that failed, no further one starts. */
  commands(form: Form, seed: number): readonly Command[];
  /** A file with the figures of a long run, and the function that publishes them, even if they are bad ones. */
  readonly written?: { readonly file: string; publish(figures: unknown, day: string): void };
}
