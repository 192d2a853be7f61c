import * as fc from "fast-check";
import { CredentialCatcher } from "../../scripts/log-scan/credential-catcher.ts";
import { checkLog, checkPlayed, checkProbe, checkTime, type Fault, secretsOf } from "./checks.ts";
import type { FuzzTarget } from "./fuzz-target.ts";
import type { Generator, Input } from "./input.ts";
import type { Known } from "./known.ts";
import { playInput } from "./play-input.ts";
import { Tally } from "./tally.ts";
import { Tape, tapes } from "./tape.ts";

/** A fault, with the smallest input that was found for it. */
export interface Failure extends Fault {
  readonly generator: string;
  /** The value of `--replay`; `null` if no single input has this fault. */
  readonly replay: string | null;
  readonly inputs: readonly Input[];
}

type Found = (index: number, fault: Fault) => Promise<Failure>;

const SHRINK_MS = 30_000;
/** A slow input must be slow every time. */
const TIMED_RUNS = 3;

/** Sends inputs to a process and collects what fails. */
export class FuzzRun {
  readonly failures: Failure[] = [];
  readonly tallies: Map<string, Tally> = new Map();
  readonly #target: FuzzTarget;
  readonly #onFailure: (failure: Failure) => void;
  #known: Known | null = null;
  #secrets = new CredentialCatcher();

  constructor(target: FuzzTarget, onFailure: (failure: Failure) => void) {
    this.#target = target;
    this.#onFailure = onFailure;
  }

  get inputs(): number {
    return this.tallies.values().reduce((sum, { inputs }) => sum + inputs, 0);
  }

  /** The values from which the next inputs are made. */
  learn(known: Known): void {
    this.#known = known;
    this.#secrets = secretsOf(known);
  }

  add(failure: Failure): void {
    if (this.#isKnown(failure)) return;
    this.failures.push(failure);
    this.#onFailure(failure);
  }

  /** The input at a path of fast-check. */
  inputOf(generator: Generator, seed: number, path: string): Input {
    const [numbers = []] = fc.sample(tapes, { seed, path, numRuns: 1 });
    return this.#make(generator, numbers);
  }

  /** Sends a group of inputs at the same time. If something is wrong, sends them again one by one. */
  async group(generator: Generator, seed: number): Promise<void> {
    const inputs = fc
      .sample(tapes, { seed, numRuns: generator.groupSize })
      .map((numbers) => this.#make(generator, numbers));
    await this.#send(generator.name, inputs, (index, fault) => this.#shrink(generator, seed, index, fault));
  }

  /** Sends given inputs, as a group. */
  async given(name: string, inputs: readonly Input[]): Promise<void> {
    await this.#send(name, inputs, (index, fault) =>
      Promise.resolve({ ...fault, generator: name, replay: null, inputs: inputs.slice(index, index + 1) }),
    );
  }

  /** @param found describes the fault of the input at an index */
  async #send(name: string, inputs: readonly Input[], found: Found): Promise<void> {
    const played = await Promise.all(inputs.map((input) => playInput(this.#target.port, input)));
    const own = played.map((one) => checkPlayed(one, this.#secrets));
    const report = await this.#target.report();
    const tally = this.#tallyOf(name);
    const probeMs = await this.#target.probe();
    tally.add(played, report, probeMs);
    const shared = [...checkProbe(probeMs), ...(report === null ? [CRASH] : checkLog(report, this.#secrets))];
    const isSlow = report !== null && tally.isUnusual(report);
    const certain = [...own.flat(), ...shared];
    if (certain.length === 0 && !isSlow) return;

    // A fault that a response shows names its input. For the others, every input is tried.
    const suspects = own.flatMap((faults, index) => (faults.length > 0 ? [index] : []));
    const all = shared.length > 0 || isSlow ? inputs.map((_, index) => index) : suspects;
    const isFound = await this.#findCulprits(inputs, all, found);
    if (!isFound && certain[0] !== undefined) this.add({ ...certain[0], generator: name, replay: null, inputs });
  }

  /** Sends one input alone and applies all checks. */
  async examine(input: Input): Promise<readonly Fault[]> {
    const faults = await this.#once(input);
    let timed = faults.filter(isTimed);
    for (let n = 1; n < TIMED_RUNS && timed.length > 0; n++) timed = (await this.#once(input)).filter(isTimed);
    return [...faults.filter((fault) => !isTimed(fault)), ...timed];
  }

  async #once(input: Input): Promise<readonly Fault[]> {
    await this.#target.revive();
    await this.#target.report();
    const played = await playInput(this.#target.port, input);
    const report = await this.#target.report();
    const probe = checkProbe(await this.#target.probe());
    if (report === null || !this.#target.isAlive) return [CRASH];
    return [
      ...checkPlayed(played, this.#secrets),
      ...checkLog(report, this.#secrets),
      ...checkTime(report, input),
      ...probe,
    ];
  }

  async #findCulprits(inputs: readonly Input[], indexes: readonly number[], found: Found): Promise<boolean> {
    let isFound = false;
    for (const index of indexes) {
      const input = inputs[index];
      const [fault] = input === undefined ? [] : await this.examine(input);
      if (fault === undefined) continue;
      isFound = true;
      if (!this.#isKnown(fault)) this.add(await found(index, fault));
    }
    await this.#target.revive();
    await this.#target.report();
    return isFound;
  }

  /** Looks for a smaller input that fails the same check. */
  async #shrink(generator: Generator, seed: number, index: number, fault: Fault): Promise<Failure> {
    const deadline = performance.now() + SHRINK_MS;
    let found = fault;
    const property = fc.asyncProperty(tapes, async (numbers) => {
      if (performance.now() > deadline) return;
      const same = (await this.examine(this.#make(generator, numbers))).find(({ check }) => check === fault.check);
      if (same === undefined) return;
      found = same;
      throw new Error(same.detail);
    });
    const { counterexample, counterexamplePath } = await fc.check(property, { seed, path: String(index), numRuns: 1 });
    const path = counterexamplePath ?? String(index);
    const [numbers] = counterexample ?? fc.sample(tapes, { seed, path, numRuns: 1 });
    return {
      ...found,
      generator: generator.name,
      replay: `${generator.name}:${seed}:${path}`,
      inputs: [this.#make(generator, numbers ?? [])],
    };
  }

  #isKnown(fault: Fault): boolean {
    return this.failures.some((known) => signature(known) === signature(fault));
  }

  #make(generator: Generator, numbers: readonly number[]): Input {
    if (this.#known === null) throw new Error("the run has learned nothing yet");
    return generator.make(new Tape(numbers), this.#known);
  }

  #tallyOf(name: string): Tally {
    const tally = this.tallies.get(name) ?? new Tally();
    this.tallies.set(name, tally);
    return tally;
  }
}

function isTimed({ check }: Fault): boolean {
  return check === "cpu" || check === "delay";
}

const CRASH: Fault = { check: "alive", detail: "the process has crashed" };

/** Faults that differ only in numbers, ids and quoted values are the same. */
function signature({ check, detail }: Fault): string {
  return `${check} ${detail.replaceAll(/"[^"]*"|\d+|[\w-]{20,}/g, "").slice(0, 80)}`;
}
