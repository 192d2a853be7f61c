import { Depend, PorticoApp, provide } from "portico";
import { type AuthenticationBackend, AuthenticationMiddleware, authentication, useAuth } from "portico/auth";
import {
  type Database,
  openDatabase,
  type PorticoTables,
  type Transaction,
  tableHandler,
  type UserTable,
  userModel,
} from "portico/sql";
import { describe, expectTypeOf, it } from "vitest";

interface Tables extends PorticoTables {
  books: { id: string; title: string };
}
interface PlannedTables extends PorticoTables {
  users: UserTable & { plan: "free" | "pro"; notes: string | null };
}

declare const backend: AuthenticationBackend;
const database = openDatabase<Tables>("sqlite::memory:");
const planned = openDatabase<PlannedTables>("sqlite::memory:");

class User extends userModel(database) {}
class Member extends userModel(planned) {
  get shout(): string {
    return this.username.toUpperCase() + this.plan;
  }
}

describe("openDatabase", () => {
  it("is a Kysely of the tables, and so are its transactions", async () => {
    expectTypeOf(database).toEqualTypeOf<Database<Tables>>();
    const trx = await database.begin();
    expectTypeOf(trx).toEqualTypeOf<Transaction<Tables>>();
    expectTypeOf(await trx.begin()).toEqualTypeOf<Transaction<Tables>>();
    expectTypeOf(trx).toExtend<Database<Tables>>();
    expectTypeOf(await trx.selectFrom("books").selectAll().execute()).toEqualTypeOf<{ id: string; title: string }[]>();
    // @ts-expect-error there is no such table
    trx.selectFrom("bokos");
    // @ts-expect-error how it went is needed
    void trx.end();
  });

  it("takes the tables of an existing application, with its own table of users", () => {
    const existing = openDatabase<{ users: { id: number; mail: string } }>("sqlite::memory:");

    expectTypeOf(existing).toEqualTypeOf<Database<{ users: { id: number; mail: string } }>>();
    expectTypeOf(openDatabase("sqlite::memory:")).toEqualTypeOf<Database<PorticoTables>>();
    // @ts-expect-error the built-in user class needs Portico's table of users
    userModel(existing);
  });

  it("spans the yield of a provider", () => {
    const unitOfWork = provide(async function* ({ ctx }) {
      const trx = await database.begin();
      try {
        yield trx;
      } finally {
        await trx.end(ctx.outcome);
      }
    });
    new PorticoApp().get("/books", { params: { trx: Depend(unitOfWork) } }, ({ trx, response }) => {
      expectTypeOf(trx).toEqualTypeOf<Transaction<Tables>>();
      return response.apaginate(tableHandler(trx.selectFrom("books").selectAll()));
    });
  });
});

describe("userModel", () => {
  it("types the columns that were added", async () => {
    const made = await Member.objects.createUser({ email: "", username: "", password: "", plan: "pro" });
    expectTypeOf(made.plan).toEqualTypeOf<"free" | "pro">();
    expectTypeOf(made.notes).toEqualTypeOf<string | null>();
    const loaded = await Member.loadUser("1");
    expectTypeOf(loaded).toEqualTypeOf<Member | null>();
    expectTypeOf(loaded?.shout).toEqualTypeOf<string | undefined>();
    // @ts-expect-error a column without a default is needed
    void Member.objects.createUser({ email: "", username: "", password: "" });
    // @ts-expect-error no such plan
    void Member.objects.createUser({ email: "", username: "", password: "", plan: "gold" });
    expectTypeOf(await Member.objects.update(made, { plan: "free" })).toEqualTypeOf<typeof made>();
    // @ts-expect-error no such plan
    void Member.objects.update(made, { plan: "gold" });
    // @ts-expect-error Portico's own columns have methods of their own
    void Member.objects.update(made, { password_hash: "" });
    // @ts-expect-error the hash is nowhere
    void made.password_hash;
    // @ts-expect-error Portico's own columns are not given
    void User.objects.createUser({ email: "", username: "", password: "", credential_version: 2 });
    // @ts-expect-error one key at least
    void User.objects.get({});
  });

  it("is a user model for the middleware and for accounts", () => {
    new AuthenticationMiddleware({ userModel: User, backend });
    new PorticoApp().use(authentication({ userModel: User, secret: "", audience: "" }));
    new PorticoApp().get("/me", { auth: useAuth() }, ({ user }) => user.displayName);
  });
});
