import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { engineNames, newPlace, type Place } from "../sql/accounts/databases.ts";
import { runHere } from "./run-portico.ts";

describe.each(engineNames)("portico migrate on %s", (engine) => {
  let place: Place;
  const run = (words: string, answer?: boolean) =>
    runHere([...words.split(" "), "--database", place.url], answer === undefined ? {} : { answer });
  beforeAll(async () => {
    place = await newPlace(engine);
  });
  afterAll(() => place?.remove());

  it("migrates up and down, and shows the status", async () => {
    expect((await run("migrate status")).out).toMatch(/^MIGRATION +APPLIED\n0001_users +pending\n/);
    expect(await run("migrate up")).toMatchObject({
      code: 0,
      out: expect.stringContaining("applied 0001_users\n"),
      err: "",
    });
    expect(await run("migrate up")).toEqual({ code: 0, out: "nothing to do\n", err: "" });
    expect((await run("migrate status")).out).toMatch(/^0001_users +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
    expect(JSON.parse((await run("migrate status --json")).out)).toMatchObject({
      migrations: [{ name: "0001_users", appliedAt: expect.stringMatching(/Z$/) }, {}, {}, {}],
    });
    expect(await run("migrate down --yes")).toMatchObject({ code: 0, out: "reverted 0004_outbox\n" });
    expect(JSON.parse((await run("migrate down --all --yes --json")).out)).toEqual({
      reverted: ["0003_stores", "0002_permissions_and_roles", "0001_users"],
    });
    expect(await run("migrate down")).toMatchObject({ code: 0, out: "nothing to do\n" });
  });

  it("does not delete data without a confirmation", async () => {
    await run("migrate up");

    const silent = await run("migrate down --all");
    expect(silent).toMatchObject({ code: 2, out: "" });
    expect(silent.err).toContain(
      "This reverts 0004_outbox, 0003_stores, 0002_permissions_and_roles, 0001_users and deletes the data",
    );
    expect(silent.err).toContain("Pass --yes to confirm it");
    expect(await run("migrate down", false)).toEqual({
      code: 1,
      out: "",
      err: "This reverts 0004_outbox and deletes the data in the tables. Continue?\nportico: nothing was changed\n",
    });
    expect((await run("migrate status")).out).not.toContain("pending");
    expect(await run("migrate down", true)).toMatchObject({ code: 0, out: "reverted 0004_outbox\n" });
  });
});
