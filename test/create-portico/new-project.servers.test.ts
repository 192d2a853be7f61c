import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { parseEnv } from "node:util";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { read, root } from "../../scripts/package/repository.ts";
import { temporaryFolder } from "../cli/temporary-folder.ts";
import { createOnTerminal, runCreate, writeVersions } from "./run-create.ts";

interface Manifest {
  readonly [key: string]: unknown;
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

let place: string;
beforeAll(writeVersions);
beforeEach(async () => {
  place = await temporaryFolder();
});

const text = (...path: readonly string[]): string => readFileSync(join(place, ...path), "utf8");
const manifest = (...path: readonly string[]): Manifest => JSON.parse(text(...path, "package.json")) as Manifest;
const filesIn = (folder: string): readonly string[] =>
  globSync("**", { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

describe.each(["minimal", "api"])("the template %s", (template) => {
  const create = (...args: readonly string[]) =>
    runCreate(place, ["shop-api", "--template", template, "--no-install", ...args]);

  it("has all of its files, and an .env that only this project has", async () => {
    const { code } = await create();

    const expected = readdirSync(join(root, "packages/create-portico/templates", template), { recursive: true })
      .map((name) => String(name).replace("_gitignore", ".gitignore"))
      .concat(".env");
    const created = readdirSync(join(place, "shop-api"), { recursive: true }).map(String);
    expect(code).toBe(0);
    expect(created.toSorted()).toEqual(expected.toSorted());
    expect(text("shop-api", ".gitignore").split("\n")).toEqual(expect.arrayContaining(["node_modules/", ".env"]));
  });

  it("carries the name of the folder wherever the template has its own", async () => {
    await create();

    expect(manifest("shop-api")["name"]).toBe("shop-api");
    for (const file of filesIn(join(place, "shop-api"))) expect(text("shop-api", file)).not.toMatch(/my[-_]api/);
  });

  it("depends on the versions of the repository", async () => {
    await create();

    const own = JSON.parse(read("package.json")) as Manifest;
    const { portico, ...others } = { ...manifest("shop-api").dependencies, ...manifest("shop-api").devDependencies };
    expect(portico).toBe(`^${own.version}`);
    for (const [name, version] of Object.entries(others))
      expect([name, version]).toEqual([name, own.devDependencies[name]]);
  });

  it("has a random secret in .env, and none in .env.example", async () => {
    await create();
    await runCreate(place, ["other", "--template", template, "--no-install"]);

    const secrets = ["shop-api", "other"].map((folder) => parseEnv(text(folder, ".env"))["SECRET"] ?? "");
    expect(secrets.map((secret) => Buffer.from(secret, "base64url").length)).toEqual([32, 32]);
    expect(secrets[0]).not.toBe(secrets[1]);
    expect(parseEnv(text("shop-api", ".env.example"))["SECRET"]).toBe("");
  });

  it.each([
    ["pnpm", "pnpm dev", "pnpm-lock.yaml"],
    ["yarn", "yarn dev", "yarn.lock"],
  ])("names the commands of %s", async (packageManager, command, lock) => {
    const { out } = await create("--package-manager", packageManager);

    const written = filesIn(join(place, "shop-api"))
      .map((file) => text("shop-api", file))
      .join("\n");
    expect(out).toContain(`  ${command}`);
    expect(text("shop-api", "README.md")).toContain(command);
    expect(written).not.toMatch(/(?<!p)npm (?:run|test|ci)|npx |package-lock/);
    expect(existsSync(join(place, "shop-api", "Dockerfile")) ? text("shop-api", "Dockerfile") : lock).toContain(lock);
  });
});

describe("the folder", () => {
  it("is my-api by default", async () => {
    const { out } = await runCreate(place, ["--yes", "--no-install"]);

    expect(out).toContain(`Created ${join(place, "my-api")} from the template minimal`);
    expect(out).toContain("  cd my-api\n  npm install\n  npm run dev");
  });

  it("may be the current one, after `npm init -y`", async () => {
    const init = {
      name: "@acme/shop",
      version: "1.0.0",
      type: "commonjs",
      main: "index.js",
      scripts: { lint: "oxlint", test: 'echo "Error: no test specified" && exit 1' },
      dependencies: { zod: "4.0.0" },
    };
    writeFileSync(join(place, "package.json"), JSON.stringify(init));

    const { code } = await runCreate(place, [".", "--no-install"]);

    const { scripts, dependencies, ...others } = manifest();
    expect(code).toBe(0);
    expect(others).toMatchObject({ name: "@acme/shop", version: "1.0.0", type: "module", main: "index.js" });
    expect(scripts).toMatchObject({
      lint: "oxlint",
      dev: "portico dev app.ts",
      test: "node --env-file=.env.test --test",
    });
    expect(dependencies).toMatchObject({ zod: "4.0.0", portico: expect.any(String) });
    expect(text("app.ts")).toContain('title: "shop"');
  });

  it("may have the files of a new repository, which are kept", async () => {
    mkdirSync(join(place, "shop", ".git"), { recursive: true });
    writeFileSync(join(place, "shop", "README.md"), "# Our shop\n");
    writeFileSync(join(place, "shop", ".gitignore"), "dist/\n.env\n");

    const { code } = await runCreate(place, ["shop", "--no-install"]);

    expect(code).toBe(0);
    expect(text("shop", "README.md")).toBe("# Our shop\n");
    expect(text("shop", ".gitignore")).toBe("dist/\n.env\nnode_modules/\n*.db*\n");
  });

  it("is not touched if it has other files", async () => {
    mkdirSync(join(place, "shop"));
    writeFileSync(join(place, "shop", "app.ts"), "// mine\n");

    const { code, err } = await runCreate(place, ["shop", "--no-install"]);

    expect(code).toBe(1);
    expect(err).toContain(`The folder ${join(place, "shop")} is not empty: it contains app.ts`);
    expect(readdirSync(join(place, "shop"))).toEqual(["app.ts"]);
    expect(text("shop", "app.ts")).toBe("// mine\n");
  });
});

describe("a place without a folder", () => {
  it.each([
    ["shop", /shop is a file\. Choose another folder/],
    ["shop/books", /ENOTDIR: not a directory/],
  ])("%s ends with 1 and the reason", async (folder, message) => {
    writeFileSync(join(place, "shop"), "");

    const { code, err } = await runCreate(place, [folder, "--no-install"]);

    expect(code).toBe(1);
    expect(err).toMatch(message);
    expect(err.split("\n")).toHaveLength(2);
  });
});

describe("a wrong call", () => {
  it.each([
    [["shop", "--tempalte", "api"], "Unknown option '--tempalte'"],
    [["shop", "--template", "nest"], '"nest" is not a template. Choose one of: minimal, api, existing'],
    [["shop", "--package-manager", "bun"], '"bun" is not a package manager. Choose one of: npm, pnpm, yarn'],
    [["shop", "books"], '"books" is one argument too many: pass one folder'],
    [["My Shop"], '"My Shop" is not a valid package name. Try "my-shop"'],
    [["_"], '"_" is not a valid package name. Use lower-case letters, digits and hyphens'],
    [["graphql"], `The package can't be named "graphql", because it depends on the package graphql`],
    [["a".repeat(215)], "The package name has more than 214 characters"],
    [["--template"], "Option '--template' argument is ambiguous"],
  ])("%j names its culprit, and ends with 2", async (args, message) => {
    const { code, err, out } = await runCreate(place, [...args, "--no-install"]);

    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(message);
    expect(err).toContain('Run "npm create portico@latest -- --help"');
    expect(readdirSync(place)).toEqual([]);
  });
});

describe("the flags", () => {
  it("--help lists every flag", async () => {
    const { code, out } = await runCreate(place, ["--help"]);

    expect(code).toBe(0);
    for (const flag of ["template", "package-manager", "no-install", "portico", "yes", "help", "version"])
      expect(out).toContain(`--${flag}`);
  });

  it("--version is that of the package", async () => {
    const { version } = JSON.parse(read("packages/create-portico/package.json")) as Manifest;

    expect(await runCreate(place, ["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  it.each([
    ["portico.tgz", "file:../portico.tgz"],
    ["1.2.3", "1.2.3"],
  ])("--portico %s is the dependency %s", async (given, version) => {
    writeFileSync(join(place, "portico.tgz"), "");

    await runCreate(place, ["shop", "--no-install", "--portico", given]);

    expect(manifest("shop").dependencies["portico"]).toBe(version);
  });
});

describe("the installation", () => {
  /** A package manager that notes its arguments and ends with the code. */
  async function fakeManager(name: string, code: number): Promise<Readonly<Record<string, string>>> {
    const bin = join(place, "bin");
    mkdirSync(bin);
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\necho "$@" > "$PWD/arguments"\necho "registry not reachable" >&2\nexit ${code}\n`,
    );
    await chmod(join(bin, name), 0o755);
    return { PATH: [bin, process.env["PATH"]].join(delimiter) };
  }

  it("uses the package manager that runs the command", async () => {
    const env = { ...(await fakeManager("pnpm", 0)), npm_config_user_agent: "pnpm/12.0.0 npm/? node/v24.0.0" };

    const { code, out } = await runCreate(place, ["shop"], env);

    expect([code, text("shop", "arguments")]).toEqual([0, "install\n"]);
    expect(out).not.toContain("pnpm install");
  });

  it("ends with 1 and the output of the package manager if it fails, and keeps the files", async () => {
    const { code, err } = await runCreate(place, ["shop"], await fakeManager("npm", 7));

    expect(code).toBe(1);
    expect(err).toContain(`"npm install" failed in ${join(place, "shop")} (7)`);
    expect(err).toContain("registry not reachable");
    expect(existsSync(join(place, "shop", "app.ts"))).toBe(true);
  });

  it("names a package manager that is not installed", async () => {
    const { code, err } = await runCreate(place, ["shop", "--package-manager", "yarn"], { PATH: place });

    expect(code).toBe(1);
    expect(err).toContain("spawn yarn ENOENT");
  });
});

describe("on a terminal", () => {
  it("asks for the template and the folder, and refuses an invalid name", async () => {
    const { code, out } = await createOnTerminal(
      place,
      ["--no-install"],
      [
        ["Which template?", "\u001b[B\r"],
        ["Which folder?", "Shop\r"],
        ['Try "shop"', `${"\u007f".repeat(4)}shop\r`],
      ],
    );

    expect(code).toBe(0);
    expect(out).toContain(`Created ${join(place, "shop")} from the template api`);
    expect(existsSync(join(place, "shop", "src/server.ts"))).toBe(true);
  });

  it("creates nothing if the user cancels", async () => {
    const { code, out } = await createOnTerminal(place, ["--no-install"], [["Which template?", "\u0003"]]);

    expect(code).toBe(130);
    expect(out).toContain("Cancelled. Nothing was created.");
    expect(readdirSync(place)).toEqual([]);
  });
});
