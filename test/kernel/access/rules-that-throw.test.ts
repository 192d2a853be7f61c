import { Conflict, not, PorticoApp, rule, ServiceUnavailable } from "portico";
import { SimpleUser } from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

interface Row {
  readonly id: string;
}
const coded = (code: string): Error => Object.assign(new Error("Not for you"), { code });

/** The responses of `ctx.can`, of `ctx.authorize`, and of both for the opposite of the rule; and the messages in the log. */
async function asked(error: unknown): Promise<readonly unknown[]> {
  const log = logCatcher();
  const broken = rule<Row>({
    name: "row.broken",
    allows() {
      throw error;
    },
  });
  const row = { id: "1" };
  const app = new PorticoApp({ logger: log })
    .get("/can", ({ ctx }) => ctx.can(broken, row))
    .get("/hidden", ({ ctx }) => ctx.authorize(broken, row))
    .get("/shown", ({ ctx }) => ctx.authorize(broken, row, { status: 403 }))
    .get("/not", ({ ctx }) => ctx.can(not(broken), row));
  const client = testClient(app).as(new SimpleUser("ann"));
  const seen = async (path: string): Promise<unknown> => {
    const answer = await client.get(path);
    const { status } = answer;
    return status === 200 ? answer.json() : [status, (answer.json() as { readonly detail: string }).detail];
  };
  const answers = [await seen("/can"), await seen("/hidden"), await seen("/shown"), await seen("/not")];
  return [...answers, log.lines.filter(({ level }) => level === "error").length];
}

describe("a rule that throws", () => {
  it("an error for clients refuses with it, and its opposite allows", async () => {
    const expected = [false, [404, "Not found"], [409, "Taken"], true, 0];
    expect(await asked(new Conflict("Taken"))).toEqual(expected);
  });

  it.each([
    ["UNAUTHENTICATED", 401],
    ["FORBIDDEN", 403],
  ])("an error of another library with the code %s refuses likewise", async (code, status) => {
    expect(await asked(coded(code))).toEqual([false, [404, "Not found"], [status, "Not for you"], true, 0]);
  });

  it.each([[new Error("the rules are unavailable")], [coded("ELSEWHERE")], [null], [undefined]])(
    "anything else decides nothing, also not its opposite: %s",
    async (error) => {
      const unknown = [403, "Permission denied"];
      expect(await asked(error)).toEqual([unknown, unknown, unknown, unknown, 4]);
    },
  );

  it("an outage is reported as one", async () => {
    const outage = [503, "The rules are away"];
    expect(await asked(new ServiceUnavailable("The rules are away"))).toEqual([outage, outage, outage, outage, 4]);
  });
});

it("an object that is missing is not there, for every rule", async () => {
  const open = rule<Row>({ name: "row.open", allows: () => true, anonymous: true });
  const app = new PorticoApp({ logger: false })
    .get("/can", async ({ ctx }) => [await ctx.can(open, null), await ctx.can(open, undefined)])
    .get("/null", ({ ctx }) => ctx.authorize(open, null as Row | null))
    .get("/undefined", ({ ctx }) => ctx.authorize(open, undefined as Row | undefined))
    .get("/here", ({ ctx }) => ctx.authorize(open, { id: "1" }));
  const client = testClient(app);

  expect((await client.get("/can")).json()).toEqual([false, false]);
  expect([(await client.get("/null")).status, (await client.get("/undefined")).status]).toEqual([404, 404]);
  expect((await client.get("/here")).json()).toEqual({ id: "1" });
});
