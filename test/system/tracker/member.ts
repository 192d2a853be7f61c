import type { PorticoRequest } from "portico";
import { AuthenticationBackend, AuthResult, SimpleUser } from "portico/auth";
import { database } from "./database.ts";

/** A user with the organisations that the user belongs to: several, one or none. */
export class Member extends SimpleUser {
  readonly organisationIds: readonly string[];

  constructor(id: string, organisationIds: readonly string[]) {
    super(id);
    this.organisationIds = organisationIds;
  }

  static override async loadUser(identity: string): Promise<Member> {
    const rows = await database
      .selectFrom("memberships")
      .select("organisation_id")
      .where("person_id", "=", identity)
      .execute();
    return new Member(
      identity,
      rows.map(({ organisation_id }) => organisation_id),
    );
  }
}

/** The organisations of a caller. Tests of other applications register no user class, so its type is not known here. */
export const organisationsOf = (user: { readonly identity: string }): readonly string[] =>
  user instanceof Member ? user.organisationIds : [];

/** Takes the identity from a header, as behind a proxy that authenticates. */
export class HeaderBackend extends AuthenticationBackend {
  readonly scope = "apikey" as const;
  override carries(request: PorticoRequest): boolean {
    return request.headers["x-user"] !== undefined;
  }
  async authenticate(request: PorticoRequest): Promise<AuthResult> {
    const name = request.headers["x-user"];
    return name === undefined ? AuthResult.decline() : AuthResult.accept(name, this.scope);
  }
}
