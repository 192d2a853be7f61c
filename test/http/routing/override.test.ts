import { Depend, PorticoApp, provide } from "portico";
import { logCatcher, testClient } from "portico/testing";
import { expect, it, onTestFinished, vi } from "vitest";

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

it("accepts only a replacement that returns the type of the original", () => {
  const number = (): number => 1;
  const base = app();

  expect(base.override(number, async () => 2)).toBe(base);
  // @ts-expect-error another value
  base.override(number, () => "2");
  // @ts-expect-error another value
  base.override(shelf, () => ({ titels: () => [] }));
});

const clock = (): number => 1;
const warnings = async (build: (app: PorticoApp) => unknown, after: (app: PorticoApp) => unknown = () => {}) => {
  const log = logCatcher();
  const base = new PorticoApp({ logger: log });
  build(base);
  await testClient(base).get("/");
  after(base);
  return log.lines.filter(({ level }) => level === "warn").map(({ msg }) => msg);
};
const sentence = (name: string): string =>
  `app.override(${name}) has no effect: nothing depends on it. Pass the same function you pass to Depend().`;

it("warns at the start of one that nothing depends on, and at once after it", async () => {
  const override = (base: PorticoApp): unknown =>
    base
      .override(clock, () => 2)
      .override(
        () => 1,
        () => 2,
      );

  expect(await warnings(override)).toEqual([sentence("clock"), sentence("an anonymous function")]);
  expect(await warnings(() => {}, override)).toEqual([sentence("clock"), sentence("an anonymous function")]);
});

it("does not warn of a declared dependency, even if it is declared later or nested", async () => {
  const late = (): number => 1;

  expect(
    await warnings((base) =>
      base
        .override(connection, () => ({ rows: () => [] }))
        .override(late, () => 2)
        .get("/", { params: { shelf: Depend(shelf), late: Depend(late) } }, ({ late }) => late),
    ),
  ).toEqual([]);
});

it("warns of nothing in production", async () => {
  vi.stubEnv("NODE_ENV", "production");
  onTestFinished(() => void vi.unstubAllEnvs());

  expect(await warnings((base) => base.override(clock, () => 2))).not.toContain(sentence("clock"));
});
