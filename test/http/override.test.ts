import { Depend, PorticoApp, provide } from "portico";
import { testClient } from "portico/testing";
import { expect, it } from "vitest";

const connection = provide(async function* () {
  yield { rows: (): string[] => expect.fail("the real database was asked") };
});
const shelf = provide({ db: Depend(connection) })(({ db }) => ({ titles: () => db.rows() }));
const app = (): PorticoApp =>
  new PorticoApp({ logger: false }).get("/", { params: { shelf: Depend(shelf) } }, (args) => args.shelf.titles());

it("puts another callable in the place of a dependency", async () => {
  const answer = await testClient(app().override(shelf, () => ({ titles: () => ["Emma"] }))).get("/");

  expect(answer.json()).toEqual(["Emma"]);
});

it("reaches a nested one, and tears its replacement down", async () => {
  const closed: string[] = [];
  const fake = function* () {
    try {
      yield { rows: () => ["Persuasion"] };
    } finally {
      closed.push("fake");
    }
  };

  const answer = await testClient(app().override(connection, fake)).get("/");

  expect(answer.json()).toEqual(["Persuasion"]);
  expect(closed).toEqual(["fake"]);
});

it("takes only what gives what the first one gives", () => {
  const number = (): number => 1;
  const base = app();

  expect(base.override(number, async () => 2)).toBe(base);
  // @ts-expect-error another value
  base.override(number, () => "2");
  // @ts-expect-error another value
  base.override(shelf, () => ({ titels: () => [] }));
});
