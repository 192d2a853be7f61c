import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import SchemaBuilder from "@pothos/core";
import RelayPlugin, { type ResolveCursorConnectionArgs, resolveCursorConnection } from "@pothos/plugin-relay";
import ScopeAuthPlugin from "@pothos/plugin-scope-auth";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { admin, bearer, username } from "better-auth/plugins";
import { createAccessControl } from "better-auth/plugins/access";
import { GraphQLError } from "graphql";
import { useServer } from "graphql-ws/use/ws";
import { createPubSub, createYoga } from "graphql-yoga";
import { WebSocketServer } from "ws";

interface BookRow {
  id: string;
  title: string;
}
const books: BookRow[] = ["Emma", "Middlemarch", "Persuasion"].map((title, i) => ({ id: String(i), title }));
const pubSub = createPubSub<{ "book-added": [BookRow] }>();

const access = createAccessControl({ books: ["read"] });
const roles = { reader: access.newRole({ books: ["read"] }), user: access.newRole({ books: [] }) };
const auth = betterAuth({
  baseURL: "http://localhost:3000",
  database: new DatabaseSync(":memory:"),
  emailAndPassword: { enabled: true },
  plugins: [username(), bearer(), admin({ ac: access, roles })],
  secret: process.env["SECRET"] ?? randomUUID(),
});
await (await getMigrations(auth.options)).runMigrations();
for (const [name, role] of [
  ["ann", "reader"],
  ["ben", "user"],
] as const) {
  const data = { username: name };
  await auth.api.createUser({
    body: { email: `${name}@shop.example`, password: "correct horse battery", name, role, data },
  });
}

type User = typeof auth.$Infer.Session.user;
type Permissions = Parameters<typeof roles.reader.authorize>[0];
const userOf = async (headers: Headers): Promise<User | null> => (await auth.api.getSession({ headers }))?.user ?? null;
const fail = (message: string, code: string) => new GraphQLError(message, { extensions: { code } });

const builder = new SchemaBuilder<{
  Context: { user: User | null };
  AuthScopes: { signedIn: boolean; can: Permissions };
  AuthContexts: { signedIn: { user: User }; can: { user: User } };
}>({
  plugins: [ScopeAuthPlugin, RelayPlugin],
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: ({ user }) => ({
      signedIn: user !== null,
      can: (permissions) => roles[user?.role as keyof typeof roles]?.authorize(permissions).success ?? false,
    }),
    unauthorizedError: (_root, { user }) =>
      user === null ? fail("Authentication required", "UNAUTHENTICATED") : fail("Not allowed", "FORBIDDEN"),
  },
});

const Book = builder.objectRef<BookRow>("Book").implement({
  fields: (t) => ({ id: t.exposeID("id"), title: t.exposeString("title") }),
});
builder.queryType({
  fields: (t) => ({
    me: t.withAuth({ can: { books: ["read"] } }).string({ resolve: (_root, _args, { user }) => user.name }),
    books: t.withAuth({ signedIn: true }).connection({
      type: Book,
      resolve: (_root, args) =>
        resolveCursorConnection(
          { args, defaultSize: 2, maxSize: 100, toCursor: ({ id }: BookRow) => id },
          ({ before, after, limit, inverted }: ResolveCursorConnectionArgs) => {
            const sorted = books.toSorted((a, b) => a.title.localeCompare(b.title));
            const start = after ? indexOf(sorted, after) + 1 : 0;
            const between = sorted.slice(start, before ? indexOf(sorted, before) : sorted.length);
            return (inverted ? between.reverse() : between).slice(0, limit);
          },
        ),
    }),
  }),
});
function indexOf(rows: readonly BookRow[], cursor: string): number {
  const index = rows.findIndex(({ id }) => id === cursor);
  if (index === -1) throw fail("Invalid cursor", "BAD_USER_INPUT");
  return index;
}
builder.mutationType({
  fields: (t) => ({
    addBook: t.withAuth({ signedIn: true }).field({
      type: Book,
      args: { title: t.arg.string({ required: true }) },
      resolve(_root, { title }) {
        const book = { id: String(books.length), title };
        books.push(book);
        pubSub.publish("book-added", book);
        return book;
      },
    }),
  }),
});
builder.subscriptionType({
  fields: (t) => ({
    bookAdded: t.withAuth({ signedIn: true }).field({
      type: Book,
      subscribe: () => pubSub.subscribe("book-added"),
      resolve: (book) => book,
    }),
  }),
});

const schema = builder.toSchema();
const yoga = createYoga({
  schema,
  context: async ({ request }) => ({ user: await userOf(request.headers) }),
});
const signIn = toNodeHandler(auth);
const server = createServer((req, res) => (req.url?.startsWith("/api/auth/") ? signIn(req, res) : yoga(req, res)));
useServer(
  {
    schema,
    context: async ({ connectionParams }) => ({ user: await userOf(new Headers(connectionParams as HeadersInit)) }),
    onConnect: async ({ connectionParams }) => (await userOf(new Headers(connectionParams as HeadersInit))) !== null,
  },
  new WebSocketServer({ server, path: yoga.graphqlEndpoint }),
);
server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
