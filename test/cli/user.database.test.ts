import { userModel } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { engineNames, migratedPlace, newPlace, type Place } from "../sql/accounts/databases.ts";
import { PASSWORD, runHere } from "./run-portico.ts";

const OTHER = "another horse battery";

describe.each(engineNames)("portico user on %s", (engine) => {
  let place: Place;
  let User: ReturnType<typeof userModel>;
  const run = (words: string, input = "") =>
    runHere([...words.trim().split(/ +/), "--database", place.url, "--stores", "database"], { input });
  const json = async (words: string) => JSON.parse((await run(`${words} --json`)).out) as unknown;
  const add = (username: string) =>
    User.objects.createUser({ email: `${username}@x.example`, username, password: PASSWORD });
  beforeAll(async () => {
    place = await migratedPlace(engine);
    User = userModel(place.open({ poolSize: 2 }));
    await User.objects.defineRole("staff", ["read:orders"]);
  });
  afterAll(() => place?.remove());

  it("creates a user with a password, permissions and roles, or no user", async () => {
    const made = await run("user create --email ann@x.example --username ann --permission read:books", `${PASSWORD}\n`);

    const ann = await User.objects.authenticate("ann", PASSWORD);
    expect(made).toEqual({ code: 0, out: `created ann (${ann?.id})\n`, err: "" });
    expect(ann?.permissions).toEqual(["read:books"]);
    for (const [words, password, reason] of [
      ["--email ANN@x.example --username bob", PASSWORD, "The email address is already in use"],
      ["--email ｂob@x.example --username bob", PASSWORD, "The email contains a compatibility character"],
      ["--email bob@x.example --username bob", "short", "The password must be"],
      ["--email bob@x.example --username bob", "1234567890", "This password is too common"],
      ["--email robertson@x.example --username bob", "robertson", "The password must not match your username"],
      ["--email bob@x.example --username bob --role none", PASSWORD, 'The role "none" does not exist'],
    ] as const) {
      const { code, out, err } = await run(`user create ${words}`, password);
      expect({ code, out, err }).toEqual({ code: 1, out: "", err: expect.stringContaining(`portico: ${reason}`) });
    }
    expect(await User.objects.get({ username: "bob" })).toBe(null);
  });

  it("takes no password from the arguments", async () => {
    const { code, err } = await run(`user create --email p@x.example --username p --password ${PASSWORD}`);

    expect(code).toBe(2);
    expect(err).toContain("unknown option '--password'");
    expect(await User.objects.get({ username: "p" })).toBe(null);
  });

  it("disables and enables users, also as lock and unlock", async () => {
    const { id } = await add("dis");

    expect(await run("user disable dis@x.example")).toMatchObject({ code: 0, out: `disabled dis (${id})\n` });
    expect(await User.loadUser(id)).toBe(null);
    expect(await run(`user enable ${id}`)).toMatchObject({ code: 0, out: `enabled dis (${id})\n` });
    expect((await User.loadUser(id))?.credentialVersion).toBe(2);
    expect(await json("user lock dis")).toMatchObject({ username: "dis", isDisabled: true });
    expect(await json("user unlock dis")).toMatchObject({ username: "dis", isDisabled: false });
    expect(await run("user disable eve")).toEqual({ code: 1, out: "", err: 'portico: user "eve" not found\n' });
  });

  it("lists users page by page, with filters", async () => {
    const [, , b] = [await add("list-c"), await add("list-a"), await add("list-b")];
    await User.objects.grant(b, { roles: ["staff"] });
    await run("user disable list-c");

    const names = async (words: string) => {
      const { users, next } = (await json(`user list --search LIST- ${words}`)) as {
        users: readonly { username: string }[];
        next: string | null;
      };
      return [...users.map(({ username }) => username), next];
    };
    expect(await names("")).toEqual(["list-a", "list-b", "list-c", null]);
    expect(await names("--limit 2")).toEqual(["list-a", "list-b", "list-b"]);
    expect(await names("--limit 2 --after list-b")).toEqual(["list-c", null]);
    expect(await names("--limit 3")).toEqual(["list-a", "list-b", "list-c", null]);
    expect(await names("--role staff")).toEqual(["list-b", null]);
    expect(await names("--disabled")).toEqual(["list-c", null]);
    expect(await names("--search list_")).toEqual([null]);
    const page = await run("user list --search list- --limit 2");
    expect(page.out).toMatch(
      /^USERNAME +EMAIL ADDRESS +STATE +ROLES +CREATED +ID\nlist-a +list-a@x.example +enabled +- /,
    );
    expect(page.out).toMatch(/^list-b .* staff /m);
    expect(page.err).toBe("There are more users. Add --after list-b for the next page.\n");
    expect((await run("user list --search eve")).out).toBe("no users\n");
    for (const limit of ["0", "1001", "many", "1.5"]) expect((await run(`user list --limit ${limit}`)).code).toBe(2);
  });

  it("shows a user with stable keys and without the password", async () => {
    const { id } = await add("shown");

    expect(await json("user show shown")).toEqual({
      id,
      username: "shown",
      email: "shown@x.example",
      isVerified: false,
      isDisabled: false,
      roles: [],
      permissions: [],
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect((await run("user show shown")).out).toMatch(
      /^username +shown\nemail address +shown@x.example\nverified +no\n/,
    );
  });

  it("grants and revokes permissions and roles", async () => {
    await add("gra");

    expect(await run("user grant gra --permission read:orders --permission a --role staff")).toMatchObject({
      code: 0,
      out: "granted read:orders, a, the role staff to gra\n",
    });
    expect(await json("user show gra")).toMatchObject({ roles: ["staff"], permissions: ["a", "read:orders"] });
    expect(await run("user revoke gra --permission a --permission read:orders")).toEqual({
      code: 0,
      out: "revoked a, read:orders of gra\n",
      err: "gra still has read:orders through a role.\n",
    });
    expect(await json("user revoke gra --role staff")).toMatchObject({ roles: [], permissions: [] });
    expect(await run("user grant gra")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--permission or --role"),
    });
    expect(await run("user grant gra --role none")).toMatchObject({ code: 1, err: expect.stringContaining('"none"') });
  });

  it("rejects a text that is one user's name and another user's id", async () => {
    const mal = await add("mal");
    await User.objects.createUser({ email: "mal2@x.example", username: mal.id, password: PASSWORD });

    expect(await run(`user disable ${mal.id}`)).toEqual({
      code: 1,
      out: "",
      err: `portico: "${mal.id}" is the name of mal2@x.example and the id of mal@x.example: pass the email address instead\n`,
    });
    expect((await run("user disable mal@x.example")).code).toBe(0);
    expect(await User.loadUser(mal.id)).toBe(null);
  });

  it("removes control characters from text and escapes them in JSON", async () => {
    const { id } = await add("eve");
    const permission = "a\u001b]0;owned\u0007\u001b[2J\nfake  line\u202e\u009b2J";
    await User.objects.grant({ identity: id }, { permissions: [permission] });

    const text = await run("user show eve");
    const { out } = await run("user show eve --json");

    expect(text.out).toContain("a]0;owned[2Jfake  line2J\n");
    // Control and format characters are what this looks for.
    expect(`${text.out}${out}`.replaceAll("\n", "")).not.toMatch(/\p{C}/u);
    expect(JSON.parse(out)).toMatchObject({ permissions: [permission] });
  });

  it("asks to migrate if the tables are missing", async () => {
    const empty = await newPlace(engine);
    const { code, err } = await runHere(["user", "list", "--database", empty.url, "--stores", "database"]);
    await empty.remove();

    expect(code).toBe(1);
    expect(err).toBe("portico: the tables of Portico are missing or out of date. Run: portico migrate up\n");
  });

  it("replaces a password by one that is not too weak", async () => {
    await add("pas");

    expect(await run("user password pas", "short")).toMatchObject({ code: 1, out: "" });
    expect(await User.objects.authenticate("pas", PASSWORD)).not.toBe(null);
    expect(await run("user password pas", OTHER)).toEqual({
      code: 0,
      out: "changed the password of pas, who has to sign in again\n",
      err: "",
    });
    expect(await User.objects.authenticate("pas", PASSWORD)).toBe(null);
    expect((await User.objects.authenticate("pas", OTHER))?.credentialVersion).toBe(2);
  });
});
