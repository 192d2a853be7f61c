import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { PorticoApp, revoked } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  AuthenticationMiddleware,
  SessionAuthBackend,
  SessionMiddleware,
  useAuth,
} from "portico/auth";
import { redisStores } from "portico/redis";
import { sqlStores, userModel } from "portico/sql";
import { manualClock, testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../src/cli/run-command.ts";
import { engineNames, newPlace, type Place } from "../sql/accounts/databases.ts";

const PASSWORD = "correct horse battery";
const SECRET = "a secret of the tests, which is long enough";

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the program as a shell would. */
function portico(
  args: readonly string[],
  { env = {}, input = "" }: { env?: object; input?: string } = {},
): Promise<Ran> {
  return new Promise((done) => {
    const program = resolve(import.meta.dirname, "../../src/cli/portico.ts");
    const child = spawn(process.execPath, ["--no-warnings", program, ...args], {
      env: { PATH: process.env["PATH"], ...env },
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => (out += String(chunk)));
    child.stderr.on("data", (chunk) => (err += String(chunk)));
    child.on("close", (code) => done({ code, out, err }));
    child.stdin.end(input);
  });
}

/** Runs a command in this process, because a new process takes a second to start. */
async function inProcess(args: readonly string[], input: string): Promise<Ran> {
  let [out, err] = ["", ""];
  const code = await runCommand(args, {
    env: {},
    say: (line) => void (out += `${line}\n`),
    complain: (line) => void (err += `${line}\n`),
    askPassword: async () => input.split("\n")[0] ?? "",
  });
  return { code, out, err };
}

describe.each(engineNames)("portico on %s", (engine) => {
  let place: Place;
  const run = (words: string, input = "") => {
    const stores = words.includes("--redis") ? [] : ["--stores", "database"];
    return inProcess([...words.split(" "), "--database", place.url, ...stores], input);
  };
  beforeAll(async () => {
    place = await newPlace(engine);
  });
  afterAll(() => place?.remove());

  it("migrates up and down, and shows the status", async () => {
    expect((await run("migrate status")).out).toMatch(/^0001_users {2}pending\n/);
    expect(await run("migrate up")).toMatchObject({
      code: 0,
      out: expect.stringContaining("applied 0001_users\n"),
      err: "",
    });
    expect(await run("migrate up")).toEqual({ code: 0, out: "nothing to do\n", err: "" });
    expect((await run("migrate status")).out).toMatch(/^0001_users {2}\d{4}-\d\d-\d\dT/);
    expect(await run("migrate down")).toMatchObject({ code: 0, out: "reverted 0003_stores\n" });
    expect((await run("migrate down --all")).out).toBe("reverted 0002_permissions_and_roles\nreverted 0001_users\n");
    expect((await portico(["migrate", "up"], { env: { DATABASE_URL: place.url } })).code).toBe(0);
  }, 120_000);

  it("creates users with a password from standard input, and disables and enables them", async () => {
    const User = userModel(place.open({ poolSize: 2 }));

    const words = "user create --email ann@x.example --username ann --permission read:books";
    const made = await portico([...words.split(" "), "--database", place.url], { input: `${PASSWORD}\n` });

    expect(made).toMatchObject({ code: 0, err: "" });
    const ann = await User.objects.authenticate("ann", PASSWORD);
    expect(made.out).toBe(`created ann (${ann?.id})\n`);
    expect(ann?.permissions).toEqual(["read:books"]);
    expect(await run("user create --email ANN@x.example --username bob", PASSWORD)).toEqual({
      code: 1,
      out: "",
      err: "portico: The email address is already in use\n",
    });
    expect(await run("user create --email ｂob@x.example --username bob", PASSWORD)).toMatchObject({
      code: 1,
      err: expect.stringContaining("The email contains a compatibility character"),
    });
    expect(await run("user create --email bob@x.example --username bob", "short")).toMatchObject({ code: 1, out: "" });
    expect(await run("user create --email bob@x.example --username bob --role none", PASSWORD)).toMatchObject({
      code: 1,
      err: 'portico: The role "none" does not exist: define it with defineRole\n',
    });
    expect(await User.objects.get({ username: "bob" })).toBe(null);
    expect(await run("user disable ann@x.example")).toMatchObject({ code: 0, out: `disabled ann (${ann?.id})\n` });
    expect(await User.loadUser(String(ann?.id))).toBe(null);
    expect((await run(`user enable ${ann?.id}`)).code).toBe(0);
    expect((await User.loadUser(String(ann?.id)))?.credentialVersion).toBe(2);
    expect(await run("user disable nobody")).toEqual({ code: 1, out: "", err: 'portico: user "nobody" not found\n' });
  }, 120_000);

  it("accepts a session id that begins with a dash", async () => {
    const User = userModel(place.open({ poolSize: 2 }));
    await User.objects.createUser({ email: "dash@x.example", username: "dash", password: PASSWORD });

    for (const id of [`-${"a".repeat(42)}`, `--${"a".repeat(41)}`, `--revoke-all${"a".repeat(31)}`])
      expect(await run(`user sessions dash --revoke ${id}`)).toMatchObject({
        code: 1,
        err: `portico: dash has no session "${id}"\n`,
      });
    expect((await run("user sessions dash --revoke --revoke-all")).code).toBe(2);
  });

  it("rejects a text that is one user's name and another user's id", async () => {
    const User = userModel(place.open({ poolSize: 2 }));
    const mal = await User.objects.createUser({ email: "mal@x.example", username: "mal", password: PASSWORD });
    await User.objects.createUser({ email: "mal2@x.example", username: mal.id, password: PASSWORD });

    expect(await run(`user disable ${mal.id}`)).toEqual({
      code: 1,
      out: "",
      err: `portico: "${mal.id}" is the name of mal2@x.example and the id of mal@x.example: pass the email address instead\n`,
    });
    expect((await run("user disable mal@x.example")).code).toBe(0);
    expect(await User.loadUser(mal.id)).toBe(null);
  });

  it("lists and revokes sessions and API keys of a running application", async () => {
    const database = place.open({ poolSize: 2 });
    const stores = sqlStores(database);
    const User = userModel(database);
    const cat = await User.objects.createUser({ email: "cat@x.example", username: "cat", password: PASSWORD });
    const app = new PorticoApp({ logger: false, stores })
      .use(new SessionMiddleware({ secret: SECRET }))
      .use(
        new AuthenticationMiddleware({ userModel: User, backend: [new SessionAuthBackend(), new APIKeyAuthBackend()] }),
      )
      .post("/login", async ({ request }) => request.sessions.login(cat))
      .get("/me", { auth: useAuth() }, ({ user }) => user.displayName);
    const client = testClient(app);
    const signIn = async () => String((await client.post("/login")).headers["set-cookie"]).split(";")[0] ?? "";
    const [one, two] = [await signIn(), await signIn()];
    const status = async (headers: Record<string, string>) => (await client.get("/me", { headers })).status;
    const told = stores.bus.subscribe(revoked)[Symbol.asyncIterator]();
    await stores.bus.settled();

    const listed = (await run("user sessions cat")).out.trimEnd().split("\n");
    expect(listed).toHaveLength(2);
    const newest = listed[0]?.split(" ")[0] ?? "";
    expect((await run(`user sessions cat --revoke ${newest}`)).out).toBe("revoked 1 session of cat\n");
    expect([await status({ cookie: one }), await status({ cookie: two })]).toEqual([200, 401]);
    expect((await run(`user sessions cat --revoke ${newest}`)).code).toBe(1);
    expect((await run("user sessions cat --revoke-all")).out).toBe("revoked 1 session of cat\n");
    expect(await status({ cookie: one })).toBe(401);
    expect((await run("user sessions cat")).out).toBe("no sessions\n");

    const made = await run("keys create cat --name backup --permission read:books --days 30");
    const key = made.out.trim();
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining("the only time the key is shown") });
    expect(await status({ "x-api-key": key })).toBe(200);
    const id = key.split("_")[1] ?? "";
    expect((await run("keys list cat")).out).toMatch(new RegExp(`^${id} .*${key.slice(-4)} .* backup\\n$`));
    expect((await run(`keys revoke ann ${id}`)).code).toBe(1);
    expect((await run(`keys revoke cat ${id}`)).out).toBe(`revoked ${id}\n`);
    expect(await status({ "x-api-key": key })).toBe(401);
    expect((await run("keys create cat --days soon")).err).toBe(
      'portico: --days must be a whole number of at least 1, or "never"\n',
    );
    // Only PostgreSQL carries events from the program to the application.
    const heard = engine === "PostgreSQL" ? (await told.next()).value : null;
    expect(heard).toEqual(engine === "PostgreSQL" ? { user: cat.id, credential: `session:${newest}` } : null);
    await told.return?.();
    await app.close();
  }, 120_000);

  it("finds all sessions of an application with longer lifetimes, and does not shorten them", async () => {
    const database = place.open({ poolSize: 2 });
    const User = userModel(database);
    const dan = await User.objects.createUser({ email: "dan@x.example", username: "dan", password: PASSWORD });
    const days = 86_400;
    const clock = manualClock(Date.now() - 20 * days * 1000);
    const app = new PorticoApp({ logger: false, stores: sqlStores(database), clock })
      .use(
        new SessionMiddleware({
          secret: SECRET,
          rememberedIdleSeconds: 300 * days,
          rememberedAbsoluteSeconds: 400 * days,
        }),
      )
      .post("/login", async ({ request }) => request.sessions.login(dan, { remember: true }));
    const client = testClient(app);
    for (let count = 0; count < 3; count++) await client.post("/login");

    const listed = (await run("user sessions dan")).out.trimEnd().split("\n");
    expect(listed).toHaveLength(3);
    expect((await run(`user sessions dan --revoke ${listed[0]?.split(" ")[0]}`)).code).toBe(0);

    // The list of a user's sessions is what ends them all: it must not be gone before they are.
    const { expires_ms } = await database
      .selectFrom("portico_entries")
      .select("expires_ms")
      .where("key", "like", "sessions-of:%")
      .orderBy("expires_ms", "desc")
      .executeTakeFirstOrThrow();
    expect(Number(expires_ms) - Date.now()).toBeGreaterThan(400 * days * 1000);
    await app.close();
  }, 120_000);

  it("finds the data of an application with its own prefix in Redis", async () => {
    const database = place.open({ poolSize: 2 });
    const prefix = `cli-${randomUUID()}`;
    const url = "redis://127.0.0.1:6379";
    const fay = await userModel(database).objects.createUser({
      email: "fay@x.example",
      username: "fay",
      password: PASSWORD,
    });
    const { durable } = redisStores(url, { prefix });
    await new APIKeys({ store: durable }).create(fay, { name: "backup" });

    expect((await run(`keys list fay --redis ${url}`)).out).toBe("no keys\n");
    const { out } = await run(`keys list fay --redis ${url} --redis-prefix ${prefix}`);
    expect(out).toContain("backup");
    const id = out.split(" ", 1)[0] ?? "";
    expect((await run(`keys revoke fay ${id} --redis ${url} --redis-prefix ${prefix}`)).code).toBe(0);
    await durable.close();
  }, 120_000);

  it("removes control characters from the names of users", async () => {
    const database = place.open({ poolSize: 2 });
    const eve = await userModel(database).objects.createUser({
      email: "eve@x.example",
      username: "eve",
      password: PASSWORD,
    });
    const name = "a\u001b]0;owned\u0007\u001b[2J\nfake  line\u202e";
    await new APIKeys({ store: sqlStores(database).durable }).create(eve, { name });

    const { out } = await run("keys list eve");

    expect(out).toMatch(/ {2}a\]0;owned\[2Jfake {2}line\n$/);
    expect(out.trimEnd().split("\n")).toHaveLength(1);
  }, 120_000);
});

describe("portico", () => {
  it.each([
    "migrate",
    "migrate up",
    "migrate down",
    "migrate status",
    "user",
    "user create",
    "user disable",
    "user enable",
    "user sessions",
    "keys",
    "keys create",
    "keys list",
    "keys revoke",
  ])("shows the help of %s, without a database", async (words) => {
    const answers = [
      await inProcess([...words.split(" "), "--help"], ""),
      await inProcess([...words.split(" "), "-h"], ""),
    ];

    for (const { code, out, err } of answers) {
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toContain(words);
      expect(out).toContain("--stores <where>");
    }
    expect(answers[0]?.out.includes("migrate up")).toBe(words.startsWith("migrate") && !/down|status/.test(words));
  });

  it("prints its version", async () => {
    const { version } = JSON.parse(await readFile(resolve(import.meta.dirname, "../../package.json"), "utf8")) as {
      readonly version: string;
    };

    expect(await portico(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  it.each(["keys create ann", "keys list ann", "keys revoke ann x", "user sessions ann --revoke-all"])(
    "does not guess where an application keeps its sessions and keys: %s",
    async (words) => {
      const answer = await inProcess([...words.split(" "), "--database", "sqlite::memory:"], "");

      expect(answer).toMatchObject({ code: 2, out: "" });
      expect(answer.err).toContain("pass --redis <url> or set REDIS_URL if the application uses redisStores");
      expect(answer.err).toContain("pass --stores database if it uses sqlStores");
    },
  );

  it.each([[["--help"]], [["help"]]])("lists its commands for %j", async (args) => {
    const { code, out } = await portico(args);

    expect(code).toBe(0);
    for (const words of [
      "migrate up",
      "migrate down",
      "migrate status",
      "user create",
      "user disable",
      "user sessions",
      "keys create",
      "keys revoke",
    ])
      expect(out).toContain(`  ${words}`);
  });

  it.each([
    [[], "Usage: portico <command>"],
    [["migrate", "sideways"], 'unknown command "migrate sideways"'],
    [["migrate", "up"], "no database: pass --database <url> or set DATABASE_URL"],
    [["user", "disable"], "missing argument"],
    [["migrate", "up", "now"], 'unexpected argument "now"'],
    [["migrate", "up", "--fast"], "portico: Unknown option '--fast'\n"],
    [["--fast"], 'unknown option "--fast"'],
    [["user"], "user create"],
    [
      ["keys", "list", "ann", "--stores", "redis", "--database", "sqlite::memory:"],
      "requires --redis <url> or REDIS_URL",
    ],
    [["keys", "list", "ann", "--stores", "paper", "--database", "sqlite::memory:"], '"database" or "redis"'],
  ])("rejects %j with exit code 2 and the reason", async (args, sentence) => {
    const { code, out, err } = await portico(args);

    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(sentence);
    expect(err).not.toContain("    at ");
  });

  it.each([
    ["mysql://root:hunter2@db/x", 'received "mysql://root:***@db/x"'],
    ["postgres://root:hunter2@127.0.0.1:1/x", "The database is unreachable: "],
  ])("rejects --database %s with exit code 1, without showing the password", async (url, sentence) => {
    const { code, out, err } = await portico(["migrate", "up", "--database", url]);

    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(sentence);
    expect(err).not.toContain("hunter2");
    expect(err).not.toContain("    at ");
  });
});
