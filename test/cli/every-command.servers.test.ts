import { APIKeys } from "portico/auth";
import { sqlStores, userModel } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FactorStore } from "../../src/auth/factors/factor-store.ts";
import { cliProgram } from "../../src/cli/program/cli-program.ts";
import { leavesOf } from "../../src/cli/project/global-options.ts";
import { FailedEvents } from "../../src/sql/outbox/failed-events.ts";
import { migratedPlace, newPlace, type Place } from "../sql/accounts/databases.ts";
import { type Answers, PASSWORD, runHere, runOnTerminal } from "./run-portico.ts";

/** A command: what it prints on a terminal, and with --json. One with answers has a process of its own. */
interface Case {
  readonly args: string;
  readonly answers?: Answers;
  readonly shows: RegExp;
  /** The arguments for --json, if they differ. */
  readonly jsonArgs?: string;
  readonly input?: string;
  readonly data: unknown;
}

const typed: Answers = [
  ["Password: ", PASSWORD],
  ["Repeat the password: ", PASSWORD],
];
const user = (username: string, more: object = {}) => ({
  id: expect.any(String),
  username,
  email: `${username}@x.example`,
  isVerified: false,
  isDisabled: false,
  roles: [],
  permissions: [],
  createdAt: expect.any(String),
  ...more,
});

const cases: Readonly<Record<string, Case>> = {
  "migrate status": {
    args: "",
    shows: /^MIGRATION +APPLIED\n0001_users +\d{4}-/,
    data: { migrations: expect.arrayContaining([{ name: "0001_users", appliedAt: expect.any(String) }]) },
  },
  "migrate up": { args: "", shows: /^nothing to do$/m, data: { applied: [], roles: [] } },
  "user create": {
    args: "--email new@x.example --username new",
    answers: typed,
    shows: /^Password: \nRepeat the password: \ncreated new \([\w-]+\)$/m,
    jsonArgs: "--email new2@x.example --username new2",
    input: `${PASSWORD}\n`,
    data: user("new2"),
  },
  "user list": {
    args: "--search ann",
    shows: /^USERNAME +EMAIL ADDRESS .*\nann +ann@x.example +enabled /,
    data: { users: [user("ann")], next: null },
  },
  "user show": { args: "ann", shows: /^username +ann\n/, data: user("ann") },
  "user password": {
    args: "ann",
    answers: typed,
    shows: /changed the password of ann, who has to sign in again$/m,
    input: `${PASSWORD}\n`,
    data: user("ann"),
  },
  "user reset-factors": {
    args: "ann",
    answers: [["Continue? [y/N]", "y"]],
    shows: /^This removes all second factors of ann, .*\nremoved the second factors of ann, who has to sign in again$/m,
    jsonArgs: "bob --yes",
    data: { totp: true, passkeys: 0, recoveryCodes: 1 },
  },
  "role define": {
    args: "staff --permission read:orders",
    shows: /^defined staff: read:orders$/m,
    jsonArgs: "editor --permission write:books",
    data: { name: "editor", permissions: ["write:books"], users: 0 },
  },
  "role list": {
    args: "",
    shows: /^ROLE +USERS +PERMISSIONS\neditor +0 +write:books\nstaff +0 +read:orders$/m,
    data: { roles: [expect.anything(), { name: "staff", permissions: ["read:orders"], users: 0 }] },
  },
  "user grant": {
    args: "ann --role staff",
    shows: /^granted the role staff to ann$/m,
    data: user("ann", { roles: ["staff"], permissions: ["read:orders"] }),
  },
  "user revoke": {
    args: "ann --role staff",
    shows: /^revoked the role staff of ann$/m,
    data: user("ann"),
  },
  "role delete": {
    args: "staff",
    answers: [["Continue? [y/N]", "yes"]],
    shows: /^This deletes the role staff .* Continue\? \[y\/N\] yes\ndeleted staff, which 0 users had$/m,
    jsonArgs: "editor --yes",
    data: { name: "editor", permissions: ["write:books"], users: 0 },
  },
  "user disable": { args: "ann", shows: /^disabled ann /m, data: user("ann", { isDisabled: true }) },
  "user enable": { args: "ann", shows: /^enabled ann /m, data: user("ann") },
  "user sessions": { args: "ann", shows: /^no sessions$/m, data: { sessions: [] } },
  "keys create": {
    args: "ann",
    answers: [],
    shows: /^pk_\w+\nThis is the only time the key is shown/m,
    data: { id: expect.any(String), key: expect.stringMatching(/^pk_/), expiresAt: expect.any(String) },
  },
  "keys list": {
    args: "ann",
    shows: /^ID +KEY +EXPIRES +LAST USED +PERMISSIONS +NAME\n/,
    data: { keys: expect.arrayContaining([expect.objectContaining({ name: "", lastUsedAt: null })]) },
  },
  "keys revoke": {
    args: "ann KEY1",
    shows: /^revoked \w+$/m,
    jsonArgs: "ann KEY2",
    data: { revoked: expect.any(String) },
  },
  "events list": {
    args: "",
    shows: /^CONSUMER +EVENT +TOPIC .*\nmail +1 +orders.placed +one +set aside +10 +the mail server is down$/m,
    data: { events: expect.arrayContaining([expect.objectContaining({ consumer: "mail", isSetAside: true })]) },
  },
  "events retry": {
    args: "mail --key one",
    shows: /^1 event of mail will be handled again$/m,
    jsonArgs: "mail",
    data: { consumer: "mail", retried: 2 },
  },
  "migrate down": {
    args: "",
    answers: [["Continue? [y/N]", "y"]],
    shows: /^This reverts 0004_outbox .*\nreverted 0004_outbox$/m,
    jsonArgs: "--yes",
    data: { reverted: ["0003_stores"] },
  },
};

// `script` of util-linux opens the terminal.
describe.skipIf(process.platform !== "linux")("every command", () => {
  let place: Place;
  let newKeys: () => Promise<readonly string[]>;
  const global = () => ["--database", place.url, "--stores", "database"];
  beforeAll(async () => {
    place = await migratedPlace("SQLite");
    const database = place.open({ poolSize: 2 });
    const User = userModel(database);
    const ann = await User.objects.createUser({ email: "ann@x.example", username: "ann", password: PASSWORD });
    const bob = await User.objects.createUser({ email: "bob@x.example", username: "bob", password: PASSWORD });
    const factors = new FactorStore(sqlStores(database).durable);
    for (const { identity } of [ann, bob])
      await factors.change(identity, () => ({ totp: { secret: "", createdAt: 0, lastStep: 0 }, recovery: ["1"] }));
    const failed = new FailedEvents(database, "mail");
    for (const [at, key] of ["one", "two"].entries())
      await failed.add(
        database,
        { seq: at + 1, topic: "orders.placed", key, text: "{}", failures: 10 },
        "the mail server is down",
        true,
      );
    newKeys = async () => {
      const keys = new APIKeys({ store: sqlStores(database).durable });
      return [(await keys.create(ann)).id, (await keys.create(ann)).id];
    };
  });
  afterAll(() => place?.remove());

  it("has a case for each command", () => {
    const program = cliProgram(
      {
        env: {},
        cwd: "",
        print() {},
        printError() {},
        askPassword: async () => "",
        confirm: null,
        width: null,
        showStatus: null,
      },
      () => {},
    );
    const groups = ["migrate", "user", "role", "keys", "events"];
    const names = leavesOf(program).map((command) => `${command.parent?.name()} ${command.name()}`);

    const own = names.filter((name) => groups.includes(name.split(" ")[0] ?? ""));
    expect(own.toSorted()).toEqual(Object.keys(cases).toSorted());
  });

  // In order, because each case continues from the one before.
  it.each(Object.entries(cases))("%s", async (name, { args, answers, shows, jsonArgs = args, input = "", data }) => {
    const [key1 = "", key2 = ""] = name === "keys revoke" ? await newKeys() : [];
    const words = (more: string) => {
      const text = `${name} ${more}`.replace("KEY1", key1).replace("KEY2", key2).trim();
      return [...text.split(" "), ...global()];
    };
    const shown =
      answers === undefined
        ? await runHere(words(args), { width: 200 })
        : await runOnTerminal(words(args), { answers });
    expect(shown.out).toMatch(shows);
    expect(shown.code).toBe(0);
    expect(shown.out).not.toContain(PASSWORD);

    const { code, out } = await runHere([...words(jsonArgs), "--json"], { input });
    expect({ code, data: JSON.parse(out) as unknown }).toEqual({ code: 0, data });
  });
});

describe.skipIf(process.platform !== "linux")("a password on a terminal", () => {
  it("must be typed twice", async () => {
    const place = await newPlace("SQLite");
    const { code, out } = await runOnTerminal(
      ["user", "create", "--email", "a@x.example", "--username", "a", "--database", place.url],
      { answers: [...typed.slice(0, 1), ["Repeat the password: ", "something else"]] },
    );
    await place.remove();

    expect(code).toBe(1);
    expect(out).toContain("portico: the passwords are not the same");
    expect(out).not.toContain("something else");
  });
});
