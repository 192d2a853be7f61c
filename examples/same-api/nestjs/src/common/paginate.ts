import { BadRequestException } from "@nestjs/common";
import type { Connection, PageArgs } from "./paginated.js";

export function paginate<T extends { id: string }>(
  items: readonly T[],
  orderBy: keyof T,
  { first = 2, after }: PageArgs,
): Connection<T> {
  if (first < 0 || first > 100) throw new BadRequestException("first must be between 0 and 100");
  const sorted = items.toSorted((a, b) =>
    a[orderBy] === b[orderBy] ? (a.id < b.id ? -1 : 1) : a[orderBy] < b[orderBy] ? -1 : 1,
  );
  const start = after === undefined || after === null ? 0 : indexOf(sorted, after) + 1;
  const edges = sorted.slice(start, start + first).map((node) => ({ cursor: cursorOf(node), node }));
  return { edges, pageInfo: { hasNextPage: start + first < sorted.length, endCursor: edges.at(-1)?.cursor ?? null } };
}

function cursorOf({ id }: { id: string }): string {
  return Buffer.from(id).toString("base64url");
}

function indexOf(items: readonly { id: string }[], cursor: string): number {
  const index = items.findIndex((item) => cursorOf(item) === cursor);
  if (index === -1) throw new BadRequestException("the cursor is invalid");
  return index;
}
