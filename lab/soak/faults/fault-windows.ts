/** A mode of `--faults`. */
export type FaultKind = ServerFault | NetworkFault;

type ServerFault = "redis" | "postgres" | "process" | "pause" | "clock" | "slow" | "full";
/** What a proxy in front of Redis and PostgreSQL does to their connections. */
type NetworkFault = "delay" | "throttle" | "silence" | "half-close" | "reset";

export const networkFaults: readonly FaultKind[] = ["delay", "throttle", "silence", "half-close", "reset"];
export const faultKinds: readonly FaultKind[] = [
  "redis",
  "postgres",
  "process",
  "pause",
  "clock",
  "slow",
  "full",
  ...networkFaults,
];

/** The service is normal again within this time after a fault. */
export const RECOVERY_MS = 15_000;

interface Window {
  readonly kind: FaultKind;
  readonly from: number;
  to: number;
}

/** Which faults there were, and when, by the clock of the clients. */
export class FaultWindows {
  readonly #windows: Window[] = [];

  begin(kind: FaultKind): void {
    this.#windows.push({ kind, from: performance.now(), to: Number.POSITIVE_INFINITY });
  }

  end(): void {
    for (const window of this.#windows) window.to = Math.min(window.to, performance.now());
  }

  /** The faults between `from` and now, in their order, with how many seconds ago each began. */
  between(from: number): string {
    const now = performance.now();
    const seen = this.#windows.filter(({ to }) => to >= from);
    return seen.map((window) => `${window.kind} ${((now - window.from) / 1_000).toFixed(0)} s ago`).join(", ");
  }

  /** The faults that lasted at some time between `from` and now. */
  during(from: number): ReadonlySet<FaultKind> {
    return new Set(this.#windows.filter(({ to }) => to >= from).map(({ kind }) => kind));
  }

  /** The faults that something which began at `from` and ends now may have seen. */
  since(from: number): ReadonlySet<FaultKind> {
    return new Set(this.#windows.filter(({ to }) => to + RECOVERY_MS >= from).map(({ kind }) => kind));
  }
}
