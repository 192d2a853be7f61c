import type { StandardSchemaV1 } from "@standard-schema/spec";
import { shorten } from "../../core/shorten.ts";
import { segmentKey } from "./segment-key.ts";

/** One issue in a response, and the part of the request that has it. */
export interface ListedIssue<Part extends string> {
  readonly in: Part;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** How many issues a response lists before one with the number of the others, and how much of the input each may repeat. */
const MAX_ISSUES = 100;
const MAX_IN_MESSAGE = 1_000;
const MAX_IN_SEGMENT = 200;
const MAX_SEGMENTS = 64;

/** Lists the issues that schemas reported: the first hundred, then one with the number of the others. */
export function listIssues<Part extends string>(
  part: Part,
  issues: readonly StandardSchemaV1.Issue[],
): readonly ListedIssue<Part>[] {
  const listed = issues.slice(0, MAX_ISSUES).map(({ message, path = [] }) => ({
    in: part,
    path: path
      .slice(0, MAX_SEGMENTS)
      .map(segmentKey)
      .map((key) => (typeof key === "string" ? shorten(key, MAX_IN_SEGMENT) : key)),
    message: shorten(message, MAX_IN_MESSAGE),
  }));
  const rest = issues.length - listed.length;
  if (rest > 0) listed.push({ in: part, path: [], message: `${rest} more issues are not listed` });
  return listed;
}
