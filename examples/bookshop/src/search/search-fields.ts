import { field, t } from "portico/graphql";
import { Author } from "../authors/author-type.ts";
import { Book } from "../books/book-type.ts";
import { database } from "../database.ts";

const SearchResult = t.union("SearchResult", [Book, Author], {
  resolveType: (found) => ("isbn" in found ? "Book" : "Author"),
});

export const searchQueries = {
  search: field(t.list(SearchResult), {
    params: { text: t.string },
    listSize: 20,
    cost: 5,
    description: "Books and authors whose title or name starts with the text.",
  })(async ({ text }) => {
    const pattern = `${text.replaceAll(/[%_\\]/g, "\\$&")}%`;
    const [books, authors] = await Promise.all([
      database.selectFrom("books").selectAll().where("title", "like", pattern).orderBy("title").limit(10).execute(),
      database.selectFrom("authors").selectAll().where("name", "like", pattern).orderBy("name").limit(10).execute(),
    ]);
    return [...authors, ...books];
  }),
};
