/**
 * The reason why a file may not delete from a store itself, or undefined. Whether a deletion has to last through a failover must
 * be decided at each place.
 *
 * @param object the name before `.delete`, such as `store` in `this.#store.delete(key)`
 */
export function deletionFault(file: string, object: string | undefined, isRevoked: boolean): string | undefined {
  if (!file.startsWith("src/auth/") || object !== "store" || isRevoked) return undefined;
  return "a store may forget a deletion in a failover: call revoke() for what must stay ended, and discard() for anything else";
}
