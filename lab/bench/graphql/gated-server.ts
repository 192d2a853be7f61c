import "./use-graphql.ts";
import { randomBytes } from "node:crypto";
import type { ObjectType } from "../../../src/graphql/index.ts";
import { type AuthorRow, authors, type BookRow } from "./library.ts";
import { PATIENT, report } from "./report.ts";

const { memoryStores, Metrics, PorticoApp, rule } = await import("../../../src/index.ts");
const { AuthenticationMiddleware, SessionAuthBackend, SessionMiddleware, SimpleUser } = await import(
  "../../../src/auth/index.ts"
);
const { connection, field, Graph, object, OperationLog, schema, t } = await import("../../../src/graphql/index.ts");
const { CursorPagination } = await import("../../../src/pagination/index.ts");

const affordable = rule<BookRow>({
  name: "book.affordable",
  allows: (user, book) => user.isAuthenticated && book.price < 100,
});
const Book: ObjectType<BookRow> = object(
  "Book",
  { id: t.id, title: t.string, year: t.int, price: t.float },
  { auth: affordable },
);
const Author: ObjectType<AuthorRow> = object("Author", {
  id: t.id,
  name: t.string,
  born: t.int,
  country: t.string,
  genre: t.string,
  books: field(t.list(Book), { params: { first: t.int(5) } })(async ({ parent, first }) =>
    parent.books.slice(0, first),
  ),
});
const byBirth = new CursorPagination({ sortField: "born" });

const secret = (): string => randomBytes(32).toString("hex");
const app = new PorticoApp({ stores: memoryStores(), cursorKeys: secret(), load: PATIENT });
app.use(new SessionMiddleware({ secret: secret() }));
app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new SessionAuthBackend() }));
app.post("/sign-in", ({ request }) => request.sessions.login(new SimpleUser("ada")));
const query = { authors: connection(Author, byBirth, { auth: true })(async () => authors) };
new Graph(schema({ query })).onOperation(new Metrics()).onOperation(new OperationLog()).mount(app);
const { port } = await app.listen({ port: 0 });
report(port);
