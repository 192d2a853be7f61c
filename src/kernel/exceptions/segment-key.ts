import type { StandardSchemaV1 } from "@standard-schema/spec";

/** One segment of the path to an issue. */
export function segmentKey(segment: PropertyKey | StandardSchemaV1.PathSegment): string | number {
  const key = typeof segment === "object" ? segment.key : segment;
  return typeof key === "number" ? key : String(key);
}
