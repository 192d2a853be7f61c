import { type Permission, PorticoApp, type UserProtocol } from "portico";
import {
  type AuthenticationBackend,
  AuthenticationMiddleware,
  SimpleUser,
  UserBaseModel,
  type UserModel,
  useAuth,
} from "portico/auth";
import { expectTypeOf, it } from "vitest";

declare const backend: AuthenticationBackend;

/** All five that a user is made of. */
class Whole {
  readonly isAuthenticated = true;
  readonly identity: string = "1";
  readonly displayName: string = "Ann";
  hasPermission(permission: string): boolean {
    return permission === "read";
  }
  static async loadUser(identity: string): Promise<Whole | null> {
    return identity === "1" ? new Whole() : null;
  }
}
const given = <U extends UserProtocol>(userModel: UserModel<U>): AuthenticationMiddleware =>
  new AuthenticationMiddleware({ userModel, backend });
type Loads<T> = { loadUser(identity: string): Promise<T | null> };

it("[USR-01] a class with the five members of a user is a userModel", () => {
  given(Whole);
  given(SimpleUser);
  expectTypeOf(Whole).toExtend<UserModel<UserProtocol>>();
});

it("[USR-01] one that lacks any of them is none", () => {
  expectTypeOf<Omit<Whole, "isAuthenticated">>().not.toExtend<UserProtocol>();
  expectTypeOf<Omit<Whole, "identity">>().not.toExtend<UserProtocol>();
  expectTypeOf<Omit<Whole, "displayName">>().not.toExtend<UserProtocol>();
  expectTypeOf<Omit<Whole, "hasPermission">>().not.toExtend<UserProtocol>();
  // @ts-expect-error: without isAuthenticated
  given({} as Loads<Omit<Whole, "isAuthenticated">>);
  // @ts-expect-error: without identity
  given({} as Loads<Omit<Whole, "identity">>);
  // @ts-expect-error: without displayName
  given({} as Loads<Omit<Whole, "displayName">>);
  // @ts-expect-error: without hasPermission
  given({} as Loads<Omit<Whole, "hasPermission">>);
  class Lost extends UserBaseModel {
    readonly identity = "1";
    readonly displayName = "Ann";
  }
  // @ts-expect-error: without loadUser
  given(Lost);
  // @ts-expect-error: directly, too
  new AuthenticationMiddleware({ userModel: {} as Loads<Omit<Whole, "identity">>, backend });
});

it("[USR-11] hasPermission gives a boolean, never a promise", () => {
  class Late {
    readonly isAuthenticated = true;
    readonly identity = "1";
    readonly displayName = "Ann";
    async hasPermission(_permission: string): Promise<boolean> {
      return true;
    }
    static async loadUser(): Promise<Late> {
      return new Late();
    }
  }
  // @ts-expect-error: a promise is always truthy
  given(Late);
  // @ts-expect-error: directly, too
  new AuthenticationMiddleware({ userModel: Late, backend });
  class LateMember extends UserBaseModel {
    readonly identity = "1";
    readonly displayName = "Ann";
    // @ts-expect-error: nor in a subclass
    override async hasPermission(_permission: string): Promise<boolean> {
      return true;
    }
  }
  expectTypeOf<LateMember["identity"]>().toEqualTypeOf<"1">();
  expectTypeOf<UserProtocol["hasPermission"]>().returns.toEqualTypeOf<boolean>();
});

it("a permission is any text where none is registered", () => {
  const some: string = "write:books";
  useAuth({ permissions: ["read:books", some] });
  expectTypeOf<Permission>().toEqualTypeOf<string>();
  // @ts-expect-error: no text
  useAuth({ permissions: [1] });
});

it("[USE-07] a scope that is not registered does not compile", () => {
  // @ts-expect-error: misspelt
  useAuth({ scopes: ["jwtt"] });
  new PorticoApp().get("/", { auth: useAuth({ scopes: ["jwt", "session"] }) }, ({ request }) => {
    expectTypeOf(request.scope.auth).toEqualTypeOf<"jwt" | "session">();
  });
});
