import { isEqual, rule } from "portico";
import { openDatabase, type PorticoTables } from "portico/sql";
import { describe, expectTypeOf, it } from "vitest";

interface Tables extends PorticoTables {
  projects: { id: string; org: string };
  countries: { code: string };
}

const ofOrganisation = rule<{ org: string }>({
  name: "organisation",
  allows: () => true,
  where: (user) => isEqual("org", user.identity),
});

describe("the option guard", () => {
  it("has rules for each table of the application, and for Portico's if they are named", () => {
    const projects = { read: ofOrganisation, write: "closed" } as const;
    const database = openDatabase<Tables>("sqlite::memory:", { guard: { projects, countries: "open" } });
    openDatabase<Tables>("sqlite::memory:", { guard: { projects, countries: "open", users: "open" } });

    // @ts-expect-error countries has no rules
    openDatabase<Tables>("sqlite::memory:", { guard: { projects } });
    // @ts-expect-error there is no such table
    openDatabase<Tables>("sqlite::memory:", { guard: { projects, countries: "open", secrets: "open" } });
    // @ts-expect-error write is missing
    openDatabase<Tables>("sqlite::memory:", { guard: { projects: { read: ofOrganisation }, countries: "open" } });
    const countries = { read: ofOrganisation, write: ofOrganisation };
    // @ts-expect-error a country has no organisation
    openDatabase<Tables>("sqlite::memory:", { guard: { projects, countries } });

    expectTypeOf(database.asSystem("a report").selectFrom("projects").select("org").execute()).resolves.toEqualTypeOf<
      { org: string }[]
    >();
  });
});
