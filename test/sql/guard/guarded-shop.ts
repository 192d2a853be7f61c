import { sql } from "kysely";
import { type Condition, exists, isEqual, isIn, type Rule, rule } from "portico";
import { SimpleUser } from "portico/auth";
import type { Database, Guard } from "portico/sql";
import { type EngineName, newPlace, type Place } from "../accounts/databases.ts";

export interface ShopTables {
  projects: { id: number; org: number; name: string };
  tasks: { id: number; project: number; title: string };
  members: { person: string; org: number; role: string };
  countries: { code: string };
}

/** The rows of the organisations of a person. */
export const memberOf = (person: string): Condition<"org"> =>
  isIn("org", { from: "members", column: "org", where: isEqual("person", person) });
export const inOrganisation: Rule<{ org: number }, true> = rule<{ org: number }>({
  name: "organisation",
  allows: () => true,
  where: (user) => memberOf(user.identity),
});
const inProject = rule<{ project: number }>({
  name: "project",
  allows: () => true,
  where: (user) =>
    isIn("project", {
      from: "projects",
      column: "id",
      where: isIn("org", { from: "members", column: "org", where: isEqual("person", user.identity) }),
    }),
});
const ownsMembership = rule<{ org: number; person: string }>({
  name: "membership.owner",
  allows: () => true,
  where: (user) => exists({ from: "members", on: { org: "org" }, where: isOwner(user.identity) }),
});
const isOwner = (person: string) => isIn("person", [person, `owner ${person}`]);

export const guard: Guard<ShopTables> = {
  projects: { read: inOrganisation, write: inOrganisation },
  tasks: { read: inProject, write: inProject },
  members: { read: inOrganisation, write: ownsMembership },
  countries: "open",
};

export const ann: SimpleUser = new SimpleUser("ann");
export const bob: SimpleUser = new SimpleUser("bob");

/** Two organisations: ann's has project 1 with task 11, and bob's has project 2 with task 22. */
export async function openShop(
  engine: EngineName,
  given: object = guard,
): Promise<{
  readonly place: Place;
  readonly shop: Database<ShopTables>;
  /** The database without a guard. */
  readonly plain: Database<ShopTables>;
}> {
  const place = await newPlace(engine);
  const plain = place.open<any>({ poolSize: 2 }) as Database<ShopTables>;
  for (const text of [
    "create table projects (id integer primary key, org integer, name text)",
    "create table tasks (id integer primary key, project integer, title text)",
    "create table members (person text, org integer, role text)",
    "create table countries (code text)",
    "insert into projects values (1, 1, 'mine'), (2, 2, 'foreign')",
    "insert into tasks values (11, 1, 'paint'), (22, 2, 'secret')",
    "insert into members values ('ann', 1, 'owner'), ('bob', 2, 'owner')",
    "insert into countries values ('fr')",
  ])
    await sql.raw(text).execute(plain);
  return { place, plain, shop: place.open<any>({ guard: given as never }) as Database<ShopTables> };
}
