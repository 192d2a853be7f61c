import { expect } from "vitest";
import type { Answer, Header, Pagination } from "./answer.ts";
import type { WireRequest } from "./wire.ts";

/** What the rows about pagination ask of a shop: 100 books, 25 of each genre except history, and the orders of its readers. */
export interface PagedShop {
  readonly send: (path: string, request?: WireRequest) => Promise<Answer>;
  /** Runs a document. */
  readonly ask: (document: string, variables?: object, headers?: readonly Header[]) => Promise<Answer>;
  /** The header of a user: staff, reader1 or reader2. */
  readonly as: (name: string) => Promise<Header>;
  /** Places an order for each of these books. */
  readonly order: (reader: string, ...books: readonly string[]) => Promise<void>;
  /** Adds a novel. */
  readonly add: (id: string, isbn: string, addedAt: string) => Promise<void>;
  /** Changes the time at which a book was added. */
  readonly move: (id: string, addedAt: string) => Promise<void>;
  /** Removes novels. */
  readonly remove: (ids: readonly string[]) => Promise<void>;
  /** Returns how many books were added in the middle of a millisecond. */
  readonly countFineTimes: () => Promise<number>;
  /** Returns the statements about books that are sent meanwhile. */
  readonly statements: (run: () => Promise<unknown>) => Promise<readonly string[]>;
}

/** Returns every page of a list by following its links. */
export async function walk({ send }: PagedShop, path: string): Promise<Answer[]> {
  const pages: Answer[] = [];
  for (let link: string | undefined = path; link !== undefined; link = pages.at(-1)?.said.pagination?.links.next) {
    const { pathname, search } = new URL(link, "http://shop.example");
    const answer = await send(pathname + search);
    expect(answer.verdict, link).toBe("200");
    pages.push(answer);
    expect(pages.length, "a walk ends").toBeLessThan(200);
  }
  return pages;
}

export const idsOf = (...answers: readonly Answer[]): string[] =>
  answers.flatMap(({ said }) => said.items?.map(({ id }) => id) ?? []);
export const page = (answer: Answer): Pagination => answer.said.pagination as Pagination;
