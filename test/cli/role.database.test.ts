import { userModel } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { engineNames, migratedPlace, type Place } from "../sql/accounts/databases.ts";
import { PASSWORD, runHere } from "./run-portico.ts";

describe.each(engineNames)("portico role on %s", (engine) => {
  let place: Place;
  let User: ReturnType<typeof userModel>;
  const run = (words: string, answer?: boolean) =>
    runHere([...words.split(" "), "--database", place.url], answer === undefined ? {} : { answer });
  beforeAll(async () => {
    place = await migratedPlace(engine);
    User = userModel(place.open({ poolSize: 2 }));
  });
  afterAll(() => place?.remove());

  it("defines, lists and deletes roles", async () => {
    expect((await run("role list")).out).toBe("no roles\n");
    expect(await run("role define staff --permission write:books --permission read:orders")).toEqual({
      code: 0,
      out: "defined staff: read:orders, write:books\n",
      err: "",
    });
    expect(await run("role define staff --permission read:orders")).toEqual({
      code: 0,
      out: "changed staff: read:orders\n",
      err: "Before, it had: read:orders, write:books\n",
    });
    await run("role define admin --permission grant:roles");
    const ann = await User.objects.createUser({ email: "ann@x.example", username: "ann", password: PASSWORD });
    await User.objects.grant(ann, { roles: ["staff"] });

    expect((await run("role list")).out).toBe(
      "ROLE   USERS  PERMISSIONS\nadmin  0      grant:roles\nstaff  1      read:orders\n",
    );
    expect(JSON.parse((await run("role list --json")).out)).toEqual({
      roles: [
        { name: "admin", permissions: ["grant:roles"], users: 0 },
        { name: "staff", permissions: ["read:orders"], users: 1 },
      ],
    });
    expect(await run("role delete staff")).toMatchObject({
      code: 2,
      err: expect.stringContaining("This deletes the role staff and takes it from 1 user. Pass --yes to confirm it"),
    });
    expect(await run("role delete staff", false)).toMatchObject({ code: 1, out: "" });
    expect((await User.objects.get({ id: ann.id }))?.permissions).toEqual(["read:orders"]);
    expect(await run("role delete staff", true)).toMatchObject({ code: 0, out: "deleted staff, which 1 user had\n" });
    expect((await User.objects.get({ id: ann.id }))?.permissions).toEqual([]);
    expect((await run("role delete admin --yes")).code).toBe(0);
    expect(await run("role delete staff --yes")).toMatchObject({ code: 1, err: 'portico: role "staff" not found\n' });
  });

  it("does not take all permissions from a role by accident", async () => {
    expect(await run("role define reader")).toMatchObject({
      code: 2,
      err: expect.stringContaining("pass at least one --permission"),
    });
  });
});
