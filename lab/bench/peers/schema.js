import { authors, items } from "../graphql/library.ts";

export const typeDefs = /* GraphQL */ `
  type Query {
    hello: String!
    authors(first: Int! = 20): [Author!]!
    items: [Item!]!
  }
  type Mutation {
    addBook(input: BookInput!): Book!
  }
  input BookInput {
    title: String!
    year: Int!
    price: Float! = 10
  }
  type Author {
    id: ID!
    name: String!
    born: Int!
    country: String!
    genre: String!
    books(first: Int! = 5): [Book!]!
  }
  type Book {
    id: ID!
    title: String!
    year: Int!
    price: Float!
  }
  type Item {
    id: ID!
    name: String!
  }
`;

export const resolvers = {
  Query: {
    hello: () => "world",
    authors: async (_root, { first }) => authors.slice(0, first),
    items: async () => items,
  },
  Mutation: { addBook: async (_root, { input }) => ({ id: "new", ...input }) },
  Author: { books: async (author, { first }) => author.books.slice(0, first) },
};

/** Puts the resolvers into a schema that was built from the text. */
export function resolve(schema) {
  for (const [type, fields] of Object.entries(resolvers))
    for (const [name, run] of Object.entries(fields)) schema.getType(type).getFields()[name].resolve = run;
  return schema;
}
