import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isLoopback, readArguments } from "../../packages/graphql-gauntlet/src/read-arguments.ts";
import { refusal, serveReference } from "./reference-server.ts";

const CLI = new URL("../../packages/graphql-gauntlet/src/cli.ts", import.meta.url).pathname;
let reference: { readonly url: string; readonly server: Server };
let folder = "";
beforeAll(async () => {
  reference = await serveReference(({ accept }, correct) => (accept === "application/xml" ? refusal(400) : correct()));
  folder = await mkdtemp(join(tmpdir(), "gauntlet-"));
});
afterAll(async () => {
  reference.server.close().closeAllConnections();
  await rm(folder, { recursive: true });
});

function gauntlet(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly error: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, "--timeout", "30", ...args], (failure, out, error) =>
      resolve({ code: failure === null ? 0 : Number(failure.code), out, error }),
    );
  });
}

describe("graphql-gauntlet", () => {
  it("exits with 0 if no binding row fails, and prints what to do about the others", async () => {
    const { code, out } = await gauntlet(reference.url, "--only", "MEDIA-01,MEDIA-20");

    expect(code).toBe(0);
    expect(out).toMatch(/^pass {4}MEDIA-01 {3}must/);
    expect(out).toMatch(/^advice {2}MEDIA-20 {3}advice [^]*why: Without `nosniff`[^]*see: Fetch standard/m);
    expect(out).toContain("1 passed, 0 failed, 1 with advice, 0 skipped");
  });

  it("exits with 1 if a binding row fails, and writes JSON and JUnit reports", async () => {
    const file = join(folder, "report.xml");

    const { code, out } = await gauntlet(
      reference.url,
      "--only",
      "MEDIA-07",
      "--only",
      "MEDIA-06",
      "--json",
      "--junit",
      file,
    );

    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      url: reference.url,
      found: { queryType: "Query", mutation: true, introspection: true },
      results: [
        { id: "MEDIA-06", outcome: "passed" },
        {
          id: "MEDIA-07",
          outcome: "failed",
          severity: "must",
          note: expect.stringContaining("received 400") as unknown,
        },
      ],
    });
    const xml = await readFile(file, "utf8");
    expect(xml).toContain('tests="2" failures="1" skipped="0"');
    expect(xml).toMatch(
      /<testcase classname="MEDIA" name="MEDIA-07 [^"]+" time="[\d.]+"><failure message="expected 200 or 406/,
    );
  });

  it.each([
    ["a host that is not this machine", ["http://192.0.2.1/graphql"], "add --remote"],
    ["a server that is not there", ["http://127.0.0.1:1/graphql"], "ECONNREFUSED"],
    ["an unknown row", ["http://127.0.0.1:1/graphql", "--only", "NOPE"], "NOPE"],
    ["an unknown option", ["http://127.0.0.1:1/graphql", "--fast"], "--fast"],
  ])("exits with 2 for %s", async (_case, args, message) => {
    const { code, error, out } = await gauntlet(...args);

    expect([code, out]).toEqual([2, ""]);
    expect(error).toContain(message);
  });

  it("prints its options, its version and its rows", async () => {
    const [help, version, list] = await Promise.all(
      ["--help", "--version", "--list"].map((option) => gauntlet(option)),
    );

    expect(help?.out).toMatch(/^Usage: graphql-gauntlet <url> \[options\]/);
    expect(version?.out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(list?.out).toMatch(/^GET-01 +must +rejects a mutation over GET with 4xx \[GraphQL over HTTP, "GET"\]$/m);
  });
});

describe("the command line", () => {
  it("knows which hosts are this machine", () => {
    for (const url of [
      "http://127.0.0.1",
      "http://127.8.9.1",
      "http://localhost",
      "http://api.localhost",
      "http://[::1]",
    ])
      expect([url, isLoopback(new URL(url).hostname)]).toEqual([url, true]);
    for (const url of ["http://127.0.0.1.evil.example", "http://localhost.example", "http://10.0.0.1", "http://[::2]"])
      expect([url, isLoopback(new URL(url).hostname)]).toEqual([url, false]);
    // The URL parser knows other spellings of the same address.
    expect(isLoopback(new URL("http://2130706433").hostname)).toBe(true);
  });

  it("reads headers, the timeout and remote hosts", () => {
    const args = [
      "https://api.example/graphql",
      "--remote",
      "-H",
      "authorization: Bearer a:b",
      "-H",
      "x-a:1",
      "--timeout",
      "9",
    ];

    expect(readArguments(args)).toMatchObject({
      url: "https://api.example/graphql",
      headers: { authorization: "Bearer a:b", "x-a": "1" },
      timeoutSeconds: 9,
      only: [],
    });
  });

  it.each([
    [[]],
    [["a", "b"]],
    [["ftp://127.0.0.1"]],
    [["http://[::1]", "-H", "nocolon"]],
    [["http://[::1]", "--timeout", "0"]],
  ])("rejects %j", (args) => {
    expect(() => readArguments(args)).toThrow(expect.objectContaining({ name: "UsageError" }) as Error);
  });
});
