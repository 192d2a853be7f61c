export interface BookRow {
  readonly id: string;
  readonly title: string;
  readonly year: number;
  readonly price: number;
}

export interface AuthorRow {
  readonly id: string;
  readonly name: string;
  readonly born: number;
  readonly country: string;
  readonly genre: string;
  readonly books: readonly BookRow[];
}

export interface ItemRow {
  readonly id: string;
  readonly name: string;
}

/** The data of every server: 20 authors with 5 books each, and 10,000 items. */
export const authors: readonly AuthorRow[] = Array.from({ length: 20 }, (_, a) => ({
  id: `author-${a}`,
  name: `Author ${a}`,
  born: 1900 + a,
  country: "Portugal",
  genre: "novel",
  books: Array.from({ length: 5 }, (_, b) => ({
    id: `book-${a}-${b}`,
    title: `A book of author ${a}, number ${b}`,
    year: 1950 + b,
    price: 10.5 + b,
  })),
}));

export const items: readonly ItemRow[] = Array.from({ length: 10_000 }, (_, n) => ({
  id: `item-${n}`,
  name: `Item ${n}`,
}));
