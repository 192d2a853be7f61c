import { buildSchema } from "graphql";
import { Depend } from "portico";
import {
  field,
  type InterfaceType,
  mutation,
  type ObjectType,
  type Of,
  object,
  printSchema,
  schema,
  subscription,
  t,
} from "portico/graphql";
import { expect, it } from "vitest";

interface Row {
  readonly id: string;
}
interface AuthorRow extends Row {
  readonly name: string;
  readonly email: string;
}
interface BookRow extends Row {
  readonly title: string;
  readonly author_id: string;
  readonly published_at: Date;
  readonly genre: "novel" | "poetry" | "epic";
  readonly tags: readonly string[];
  readonly meta: unknown;
}
interface ReviewRow extends Row {
  readonly stars: number;
  readonly text: string | null;
}
const none = (): never => {
  throw new Error("not here");
};

const Node: InterfaceType<Row> = t.interface(
  "Node",
  { id: t.id },
  { resolveType: () => "Book", description: "What has an id." },
);
const Genre = t.enum(
  "Genre",
  { novel: {}, poetry: { description: "In verse." }, epic: { deprecationReason: "Use poetry." } },
  { description: "Of a book." },
);
const Money = t.scalar<bigint>("Money", {
  serialize: String,
  parse: (value) => BigInt(String(value)),
  description: "In cents.",
});
const BookKey = t.oneOf("BookKey", { id: t.id, isbn: t.string });
const Sort = t.input("Sort", { by: t.enum("SortBy", ["title", "date"])("date"), descending: t.boolean(false) });
const BookFilter = t.input("BookFilter", {
  text: t.arg(t.nullable(t.string), { description: "Anywhere in the title." }),
  genres: t.nullable(t.list(Genre)),
  since: t.optional(t.dateTime),
  sort: t.arg(Sort, { default: { by: "title", descending: true } }),
  published: t.arg(t.nullable(t.boolean), { deprecationReason: "Use since." }),
});
const Author: ObjectType<AuthorRow> = object(
  "Author",
  {
    name: t.string,
    email: field(t.string, { auth: (user, { parent }: Of<AuthorRow>) => parent.id === user.identity }),
    books: field(
      t.list(() => Book),
      { params: { first: t.int(20), genre: t.nullable(Genre) }, listSize: { argument: "first", max: 100 } },
    )(none),
  },
  { implements: [Node] },
);
const Review: ObjectType<ReviewRow> = object("Review", {
  id: t.id,
  stars: t.int,
  text: t.nullable(t.string),
  book: field(t.ref<BookRow>("Book"))(none),
  histogram: field(t.list(t.list(t.float)))(none),
});
const Book: ObjectType<BookRow> = object(
  "Book",
  {
    title: field(t.string, { description: "As on the cover." }),
    genre: Genre,
    tags: t.list(t.string),
    meta: t.json,
    publishedAt: field(t.dateTime)(({ parent }) => parent.published_at),
    author: field(() => Author)(none),
    price: field(Money, { deprecationReason: "Use offers." })(none),
    reviews: field(t.list(t.nullable(Review)))(none),
  },
  { implements: [Node], description: "Has pages." },
);
const Hit = t.union("Hit", [Book, Author, Review], { resolveType: () => "Book", description: "What a search finds." });

const books = {
  book: field(t.nullable(Book), { params: { by: BookKey } })(none),
  books: field(t.list(Book), {
    params: { filter: t.nullable(BookFilter), limit: t.int(10), shelf: Depend(none) },
    cost: 5,
  })(none),
};
const others = {
  search: field(t.list(Hit), { params: { text: t.string } })(none),
  node: field(t.nullable(Node), { params: { id: t.id } })(none),
  me: field(t.string, { auth: true })(none),
};
const mutations = {
  addBook: mutation(Book, { params: { title: t.string, cover: t.nullable(t.upload), price: Money(0n) } })(none),
};
const live = {
  bookAdded: subscription(Book, { params: { genre: t.nullable(Genre) } })(async function* () {}),
};

it("prints a sorted schema that can be parsed again, whatever the order of its parts", () => {
  const text = printSchema(
    schema({ query: [books, others], mutation: mutations, subscription: live, description: "A bookshop." }),
  );

  // graphql 17 sets spaces inside the braces of a default.
  expect(text.replaceAll(/= \{ (.*) \}/g, "= {$1}")).toMatchSnapshot();
  const another = schema({
    query: [others, books],
    subscription: live,
    mutation: mutations,
    types: [Review, Author],
    description: "A bookshop.",
  });
  expect(printSchema(another)).toBe(text);
  expect(printSchema(buildSchema(text))).toBe(text);
});
