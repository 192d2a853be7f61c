import { every, type Gate, not, PorticoApp, rule, ServiceUnavailable, some } from "portico";
import { SimpleUser } from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";

interface Row {
  readonly org: string;
}
type AnyGate = Gate<any, any, any>;

const no = (): boolean => false;
const failing = (): boolean => {
  throw new Error("the rules are unavailable");
};
const failingLater = async (): Promise<boolean> => failing();

describe("a list in memory that a gate restricts", () => {
  const rows: readonly Row[] = ["a", "b", "a", "c"].map((org) => ({ org }));
  const listed = async (gate: AnyGate, items: readonly Row[] = rows): Promise<readonly unknown[]> => {
    const log = logCatcher();
    const paginated = { strategy: "page_number", item: z.object({ org: z.string() }), rule: gate } as never;
    const app = new PorticoApp({ logger: log }).get("/rows", { paginated }, ({ response }) =>
      response.paginate([...items], { strategy: "page_number" }),
    );
    const response = await testClient(app).as(new SimpleUser("ann")).get("/rows");
    const { items: page } = response.json() as { readonly items?: readonly Row[] };
    return [
      page?.map(({ org }) => org).join("") ?? response.status,
      log.lines.filter(({ level }) => level === "error"),
    ];
  };
  const isA = (_user: unknown, { org }: Row): boolean => org === "a";

  it("has only the items that it allows, whether it decides at once or later", async () => {
    const atOnce = rule<Row>({ name: "row.a", allows: isA });
    const later = rule<Row>({ name: "row.a", allows: async (user, row) => isA(user, row) });
    const ofPlace = ((user: unknown, { parent }: { readonly parent: Row }) => isA(user, parent)) as unknown as AnyGate;

    for (const gate of [atOnce, later, every(ofPlace), every(true, atOnce), some(later, no)])
      expect(await listed(gate)).toEqual(["aa", []]);
    expect(await listed(not(later))).toEqual(["bc", []]);
  });

  it("asks a function of the user once, and a rule once for each item", async () => {
    const asked: string[] = [];
    const ofCaller = async (): Promise<boolean> => {
      asked.push("caller");
      return true;
    };
    const ofPlace = ((_user: unknown, { parent }: { readonly parent: Row }) => {
      asked.push(`place ${parent.org}`);
      return true;
    }) as unknown as AnyGate;
    const ofRow = rule<Row>({
      name: "row.asked",
      allows: async (_user, { org }) => {
        asked.push(`rule ${org}`);
        return true;
      },
    });
    const [first, second] = [{ org: "a" }, { org: "b" }];

    expect(await listed(every(ofCaller, ofPlace, ofRow, ofRow), [first, second, first])).toEqual(["aba", []]);
    expect(asked.toSorted()).toEqual(["caller", "place a", "place b", "rule a", "rule b"]);
  });

  it("asks a gate with its own check once", async () => {
    let checked = 0;
    const ownCheck: Gate<true> = { required: true, scopes: [], check: async () => void checked++ };

    expect(await listed(every(ownCheck, rule<Row>({ name: "row.a", allows: isA })))).toEqual(["aa", []]);
    expect(checked).toBe(1);
  });

  it("passes a function the item and the context", async () => {
    const seen: unknown[] = [];
    const ofPlace = ((
      user: SimpleUser,
      { parent, ctx }: { readonly parent: Row; readonly ctx: { readonly user: unknown } },
    ) => {
      seen.push(parent, ctx.user === user);
      return true;
    }) as unknown as AnyGate;
    const [row] = rows as [Row];
    await listed(every(ofPlace), [row]);

    expect(seen).toEqual([row, true]);
  });

  it("is an error if the decision about one item fails, and the log says so once", async () => {
    const fails = rule<Row>({ name: "row.fails", allows: (user, row) => isA(user, row) || failing() });
    const failsLater = rule<Row>({ name: "row.later", allows: (user, row) => isA(user, row) || failingLater() });
    const isAway = rule<Row>({
      name: "row.away",
      allows() {
        throw new ServiceUnavailable("The rules are away");
      },
    });
    const failed = (gate: string) => [
      expect.objectContaining({ msg: "a gate failed; no access is granted", gate, err: expect.anything() }),
    ];

    expect(await listed(fails)).toEqual([403, failed("row.fails")]);
    expect(await listed(failsLater)).toEqual([403, failed("row.later")]);
    expect(await listed(isAway)).toEqual([503, failed("row.away")]);
  });
});
