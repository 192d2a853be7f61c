/** Every way to look at an object, which is every trap of a proxy. */
const WAYS = Object.getOwnPropertyNames(Reflect) as readonly (keyof ProxyHandler<object>)[];

/** The reactions of a stand-in to code that looks at it. */
export interface Watching {
  /** Returns the value of a member. */
  read(key: PropertyKey, stand: object): unknown;
  /** Called for every other way to look: `in`, `Object.keys`, a spread, `instanceof`, a call. It may throw. */
  noted(): void;
}

/**
 * A stand-in for an object that does not exist here. Code cannot look at it unnoticed, so its decision is never taken for one
 * that it made without looking. All stand-ins of the audit are made here.
 *
 * @param target an object with the prototype of the stand-in
 */
export function watched<T extends object>(target: T, watching: Watching): T {
  const handler: Record<string, (target: T, ...args: readonly never[]) => unknown> = {};
  for (const way of WAYS)
    handler[way] = (...args) => {
      watching.noted();
      return (Reflect[way] as (...args: readonly unknown[]) => unknown)(...args);
    };
  handler["get"] = (_target, key: PropertyKey, stand: object) => watching.read(key, stand);
  return new Proxy(target, handler);
}
