import { PorticoApp } from "portico";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";

const book = z.object({ title: z.string() });

/** The status and body of a response with these schemas, and the errors in the log. */
async function sent(
  response: z.ZodType | Readonly<Record<number, z.ZodType | null>>,
  handler: (args: any) => unknown,
): Promise<readonly unknown[]> {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log }).get("/", { response } as {}, handler as never);
  const answer = await testClient(app).get("/");
  return [answer.status, answer.text() === "" ? null : answer.json(), ...log.lines.map(({ msg }) => msg)];
}
const failed = (message: string): readonly unknown[] => [500, expect.objectContaining({ status: 500 }), message];

describe("a response schema", () => {
  it("decides what is sent, for every status or for its own", async () => {
    const handler = (): unknown => ({ title: "Emma", secret: 1 });
    const created = ({ response }: any): unknown => response.status(201).json({ title: "Emma", secret: 1 });

    expect(await sent(book, handler)).toEqual([200, { title: "Emma" }]);
    expect(await sent(book, created)).toEqual([201, { title: "Emma" }]);
    expect(await sent({ 200: book, 201: z.object({ secret: z.number() }) }, created)).toEqual([201, { secret: 1 }]);
    expect(await sent({ 200: book.transform(async ({ title }) => ({ name: title })) }, handler)).toEqual([
      200,
      { name: "Emma" },
    ]);
  });

  it("of null allows no body, and neither requires a schema for a response without one", async () => {
    expect(await sent({ 204: null }, () => undefined)).toEqual([204, null]);
    expect(await sent({ 200: book }, () => undefined)).toEqual([204, null]);
    expect(await sent({ 200: null }, ({ response }) => response.json({ title: "Emma" }))).toEqual(
      failed("the handler returned status 200 with a body, but its response schema is null"),
    );
    expect(await sent({ 200: null }, ({ response }) => response.text("Emma"))).toEqual(
      failed("the handler returned status 200 with a body, but its response schema is null"),
    );
  });

  it("requires JSON", async () => {
    const message = (status: number): string =>
      `the handler returned status ${status} without the JSON that its response schema requires`;

    expect(await sent(book, ({ response }) => response.text("Emma"))).toEqual(failed(message(200)));
    expect(await sent(book, () => undefined)).toEqual(failed(message(204)));
    expect(await sent({ 202: book }, ({ response }) => response.status(202).empty())).toEqual(failed(message(202)));
  });

  it("is missed for a status with a body that has none", async () => {
    expect(await sent({ 200: book }, ({ response }) => response.status(201).json({ title: "Emma" }))).toEqual(
      failed("the handler returned status 201, but no response schema is declared for it"),
    );
  });
});

describe("the items of a page", () => {
  const paginated = { strategy: "page_number", item: book } as const;
  const page = async (handler: (args: any) => unknown, item: z.ZodType = book): Promise<readonly unknown[]> => {
    const log = logCatcher();
    const options = { paginated: { ...paginated, item } } as {};
    const app = new PorticoApp({ logger: log }).get("/", options, handler as never);
    const answer = await testClient(app).get("/");
    return [answer.status, answer.json(), ...log.lines.map(({ msg }) => msg)];
  };
  const books = [
    { title: "Emma", secret: 1 },
    { title: "Persuasion", secret: 2 },
  ];

  it("are sent as their schema returns them, at once or later", async () => {
    const items = [{ title: "Emma" }, { title: "Persuasion" }];

    expect(await page(({ response }) => response.paginate(books))).toMatchObject([
      200,
      { items, pagination: { page: 1 } },
    ]);
    expect(
      await page(
        ({ response }) => response.paginate(books),
        book.transform(async (it) => it),
      ),
    ).toMatchObject([200, { items }]);
  });

  it("must match their schema, and the log names the one that does not", async () => {
    const wrong = [...books, { title: 7 }];

    expect(await page(({ response }) => response.paginate(wrong))).toEqual(
      failed(expect.stringMatching(/^an item does not match its schema: items\.2\.title: /) as never),
    );
  });

  it.each<[string, (args: any) => unknown]>([
    ["nothing", () => undefined],
    ["a text", ({ response }) => response.text("Emma")],
    ["null", () => null],
    ["a list", () => books],
    ["items that are not a list", () => ({ items: "Emma" })],
  ])("are missed in %s", async (_name, handler) => {
    expect(await page(handler)).toEqual(
      failed("the handler of a paginated route did not respond with response.paginate()"),
    );
  });
});

describe("a body that is missing", () => {
  const echo = async (schema: z.ZodType): Promise<readonly unknown[]> => {
    const app = new PorticoApp({ logger: false }).post("/", { body: schema }, ({ body }) => ({ body: body ?? "none" }));
    const answer = await testClient(app).post("/");
    return [answer.status, answer.json()];
  };

  it("is accepted if its schema accepts undefined, at once or later", async () => {
    expect(await echo(book.optional())).toEqual([200, { body: "none" }]);
    expect(await echo(book.default({ title: "Emma" }))).toEqual([200, { body: { title: "Emma" } }]);
    expect(await echo(z.undefined().transform(async () => "later"))).toEqual([200, { body: "later" }]);
  });

  it("is rejected if its schema requires one", async () => {
    expect(await echo(book)).toMatchObject([415, { code: "unsupported_media_type" }]);
    expect(await echo(book.transform(async (it) => it))).toMatchObject([415, { code: "unsupported_media_type" }]);
  });
});
