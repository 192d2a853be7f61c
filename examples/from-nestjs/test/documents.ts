import type { Version } from "./start-version.ts";

/** A page of a list, as each version returns it. */
interface ListPage {
  readonly ids: readonly number[];
  readonly total: number;
  /** The variables of the next page, or null on the last one. */
  readonly next: object | null;
}

interface ListDocument {
  readonly text: string;
  readonly first: object;
  readonly read: (data: unknown, variables: object) => ListPage;
}

interface OffsetPage {
  readonly items: readonly { readonly id: number }[];
  readonly total: number;
}
interface CursorPage {
  readonly nodes: readonly { readonly id: number }[];
  readonly totalCount: number;
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}

/** The lists are the only documents that differ: pages by offset before, pages by cursor after. */
export const lists: Readonly<Record<Version, (field: "projects" | "tasks", size: number) => ListDocument>> = {
  before: (field, size) => ({
    text: `query ($limit: Int!, $offset: Int!) { ${field}(limit: $limit, offset: $offset) { items { id } total } }`,
    first: { limit: size, offset: 0 },
    read(data, variables) {
      const { items, total } = (data as Record<string, OffsetPage>)[field] as OffsetPage;
      const offset = (variables as { readonly offset: number }).offset + size;
      return { ids: items.map(({ id }) => id), total, next: offset < total ? { limit: size, offset } : null };
    },
  }),
  after: (field, size) => ({
    text: `query ($first: Int!, $after: String) {
      ${field}(first: $first, after: $after) { nodes { id } totalCount pageInfo { hasNextPage endCursor } }
    }`,
    first: { first: size },
    read(data) {
      const { nodes, totalCount, pageInfo } = (data as Record<string, CursorPage>)[field] as CursorPage;
      const next = pageInfo.hasNextPage ? { first: size, after: pageInfo.endCursor } : null;
      return { ids: nodes.map(({ id }) => id), total: totalCount, next };
    },
  }),
};

/** Twenty projects with their owners, and five tasks of each with their assignees. */
export const nested: Readonly<Record<Version, string>> = {
  before: `{
    projects(limit: 20) { items { name owner { name } tasks(limit: 5) { items { title assignee { name } } } } }
  }`,
  after: `{
    projects(first: 20) { nodes { name owner { name } tasks(first: 5) { nodes { title assignee { name } } } } }
  }`,
};

/** The SQL statements of that operation. The README shows them. */
export const STATEMENTS: Readonly<Record<Version, number>> = { before: 44, after: 4 };
