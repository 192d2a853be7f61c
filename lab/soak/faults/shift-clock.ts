const RealDate = Date;
let offMs = 0;

/** Makes the clock of this process wrong by so much; 0 corrects it. Timers and `performance.now()` are not affected. */
export function shiftClock(byMs: number): void {
  offMs = byMs;
  globalThis.Date = ShiftedDate;
}

const now = (): number => RealDate.now() + offMs;

const ShiftedDate = new Proxy(RealDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  get: (target, key, receiver) => (key === "now" ? now : Reflect.get(target, key, receiver)),
});
