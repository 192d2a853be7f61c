/** Says how many of the acknowledged numbers are not kept; nothing if all are. */
export function lost(what: string, acknowledged: readonly number[], kept: readonly number[]): readonly string[] {
  const there = new Set(kept);
  const missing = acknowledged.filter((id) => !there.has(id));
  return missing.length === 0 ? [] : [`${missing.length} of ${acknowledged.length} acknowledged ${what} are lost`];
}
