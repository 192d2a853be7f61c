import { UserBaseModel } from "portico/auth";
import { prisma } from "../database/prisma.ts";
import type { Person } from "../generated/client.ts";

/** A row of the application's own table, as Portico's user. */
export class PersonUser extends UserBaseModel {
  readonly identity: string;
  readonly displayName: string;
  readonly person: Person;

  constructor(person: Person) {
    super(person.role === "agent" ? ["read:tickets"] : []);
    this.identity = person.id;
    this.displayName = person.name;
    this.person = person;
  }

  static async loadUser(identity: string): Promise<PersonUser | null> {
    const person = await prisma.person.findUnique({ where: { id: identity } });
    return person === null ? null : new PersonUser(person);
  }
}

declare module "portico" {
  interface Register {
    user: PersonUser;
  }
  interface Permissions {
    "read:tickets": true;
  }
}
