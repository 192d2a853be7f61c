import { describe, expect, it } from "vitest";
import { type Audited, auditHttp, judgeAudits } from "../../scripts/audit-http.ts";

const audits = (statuses: Readonly<Record<string, Audited["status"]>> = {}, count = 61): readonly Audited[] => {
  const warnings: Audited[] = ["572B", "FDE2", "7B9B"].map((id) => ({
    id,
    name: "SHOULD warn",
    status: statuses[id] ?? "warn",
  }));
  const others = Array.from({ length: count - 3 }, (_, n): Audited => {
    const id = String(n).padStart(4, "0");
    return { id, name: "MUST pass", status: statuses[id] ?? "ok", reason: "because" };
  });
  return [...warnings, ...others];
};

it("passes 58 of the 61 audits of graphql-http, and warns where the specification's 400 rule is contradicted", async () => {
  const verdict = judgeAudits(await auditHttp());

  expect(verdict.lines.filter((line) => !line.startsWith("ok "))).toEqual([
    expect.stringMatching(/^warn +572B .*parsing failure/),
    expect.stringMatching(/^warn +FDE2 .*validation failure/),
    expect.stringMatching(/^warn +7B9B .*variable coercion failure/),
    "58 of 61 audits ok, 3 warn, 0 error",
  ]);
  expect(verdict.ok).toBe(true);
});

describe("the verdict", () => {
  it("is good when exactly those three warn", () => {
    expect(judgeAudits(audits())).toMatchObject({ ok: true });
  });

  it.each<[string, Readonly<Record<string, Audited["status"]>>, string]>([
    ["another one warns", { "0007": "warn" }, "error: 0007 is to be ok, and is warn"],
    ["one is an error", { "0007": "error" }, "error: 0007 is to be ok, and is error"],
    ["one of the three is an error", { FDE2: "error" }, "error: FDE2 is to warn, and is error"],
    ["one of the three is ok", { FDE2: "ok" }, "error: FDE2 is to warn, and is ok"],
  ])("is bad when %s", (_title, statuses, line) => {
    const verdict = judgeAudits(audits(statuses));

    expect(verdict.ok).toBe(false);
    expect(verdict.lines).toContain(line);
  });

  it("is bad when the suite is of another size", () => {
    expect(judgeAudits(audits({}, 60))).toMatchObject({ ok: false });
  });
});
