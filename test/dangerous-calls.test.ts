import { describe, expect, it } from "vitest";
import { filesBelow, read } from "../scripts/package/repository.ts";

const sources = [...(await filesBelow("browser", ".ts")), ...(await filesBelow("src", ".ts"))].map(
  (file): [string, string] => [file, withoutComments(read(file))],
);

/** The files of `browser/` and `src/` whose code, without comments, matches. */
function filesWith(pattern: RegExp): readonly string[] {
  return sources.filter(([, text]) => pattern.test(text)).map(([file]) => file);
}

/** The first group of every match in `src/`, each once, in order. */
function namedBy(pattern: RegExp): readonly string[] {
  return [
    ...new Set(sources.flatMap(([, text]) => [...text.matchAll(pattern)].map(([, name = ""]) => name))),
  ].toSorted();
}

describe("browser/ and src/", () => {
  it("starts no process except for portico dev, one thread that ends a blocked process, and loads no native code directly", () => {
    expect(filesWith(/node:(?:child_process|cluster|worker_threads)|process\.dlopen/)).toEqual([
      "src/cli/commands/dev/server-process.ts",
      "src/core/kill-after.ts",
    ]);
  });

  it("generates code in one file, whose names the executor's tests attack", () => {
    expect(filesWith(/\bnew Function\(|\beval\(|node:vm|\bFunction\(/)).toEqual([
      "src/graphql/execute/plan/generate-builder.ts",
    ]);
  });

  it("sends an HTTP request only to issuers and identity providers, for a schema that a command reads, and from the pages that it serves", () => {
    expect(filesWith(/\bfetch\(|\bhttps?\.(?:get|request)\(|from "undici"/)).toEqual([
      "browser/account-pages/call.ts",
      "browser/operations-page/main.ts",
      "src/auth/pages/page-script.ts",
      "src/auth/providers/reach-provider.ts",
      "src/auth/tokens/verifying-keys.ts",
      "src/cli/commands/schema/read-old-schema.ts",
      "src/observe/operations-page/operations-script.ts",
    ]);
  });

  it("reads a header that only tests send where production ignores it", () => {
    const headers = /"(x-portico-[a-z-]+)"/g;

    expect(namedBy(headers)).toEqual(["x-portico-acting-as", "x-portico-tell-listening"]);
    expect(filesWith(new RegExp(headers.source)).filter((file) => !read(file).includes("isProduction()"))).toEqual([]);
  });

  it("never turns off the check of a certificate", () => {
    expect(filesWith(/rejectUnauthorized|NODE_TLS_REJECT_UNAUTHORIZED|checkServerIdentity/)).toEqual([]);
  });

  it("asks the gate of a request where the path and the query are parsed, or where nothing parses them", () => {
    expect(filesWith(/\b(?:auth|gate)\??\.check\(/)).toEqual([
      "src/graphql/subscriptions/conversation.ts",
      "src/http/serving/host-requests.ts",
      "src/kernel/access/gate-of.ts",
      "src/kernel/access/read-gate.ts",
    ]);
  });

  it("makes the stand-ins of the audit in one place, which notices every look at them", () => {
    expect(filesWith(/\bnew Proxy\(/).filter((file) => /^src\/(?:audit|cli)\//.test(file))).toEqual([
      "src/audit/stand-ins/watched.ts",
    ]);
  });

  it("builds regular expressions once, as constants of a module", () => {
    const made = sources.flatMap(([, text]) => text.match(/^.*new RegExp\(/gm) ?? []);

    expect(made.length).toBeGreaterThan(0);
    expect(made.filter((line) => !/^const [A-Z_]+ = new RegExp\($/.test(line))).toEqual([]);
  });

  it("decides in few places which characters a text of a client may have, and all others take the type that they return", () => {
    expect(filesWith(/\\p\{(?:C|Cc|Cf|Cs|Control)\}|\\x00-|\\0-\\x1f/)).toEqual([
      "src/auth/users/account-name.ts",
      "src/cli/output/printable.ts",
      "src/graphql/uploads/upload-invalid.ts",
      "src/http/messages/outgoing-response.ts",
      "src/http/text/plain-text.ts",
    ]);
    expect(filesWith(/ as (?:PlainText|FileName)\b/)).toEqual([
      "src/auth/api-keys/api-keys-options.ts",
      "src/http/text/file-name.ts",
      "src/http/text/plain-text.ts",
    ]);
  });

  it("encodes texts for URLs in few places, because an encoded text may still be a wrong one, such as two dots", async () => {
    expect(filesWith(/\bencodeURI(?:Component)?\b/)).toEqual([
      "browser/account-pages/factors.ts",
      "src/auth/accounts/routes/providers/read-return-to.ts",
      "src/auth/pages/page-script.ts",
      "src/cli/commands/dev/server-process.ts",
      "src/http/messages/outgoing-response.ts",
      "src/nats/nats-pub-sub.ts",
      "src/pagination/query/links.ts",
    ]);
    const client = (await filesBelow("packages/portico-client/src", ".ts")).filter((file) =>
      /\bencodeURI(?:Component)?\b/.test(read(file)),
    );
    expect(client).toEqual(["packages/portico-client/src/fill-path.ts"]);
  });

  it("parses no XML and no YAML", () => {
    expect(filesWith(/DOMParser|from "(?:[^"]*(?:xml|yaml)[^"]*)"/i)).toEqual([]);
  });
});

describe("the algorithms in src/", () => {
  it("are SHA-256, and SHA-1 only for the ids that Redis gives to scripts", () => {
    expect(namedBy(/create(?:Hash|Hmac)\("([^"]+)"/g)).toEqual(["sha1", "sha256"]);
    expect(filesWith(/createHash\("sha1"\)/)).toEqual(["src/redis/redis-script.ts"]);
  });

  it("derive keys by HKDF with SHA-256", () => {
    expect(namedBy(/hkdfSync\("([^"]+)"/g)).toEqual(["sha256"]);
  });

  it("encrypt by AES-256-GCM", () => {
    expect(namedBy(/CIPHER = "([^"]+)"/g)).toEqual(["aes-256-gcm"]);
    expect(namedBy(/create(?:Cipher|Decipher)iv\(([^,)]+)/g)).toEqual(["CIPHER"]);
  });

  it("take random values from node:crypto, except for the moment of a retry and of a shutdown", () => {
    expect(filesWith(/Math\.random/)).toEqual([
      "src/kernel/identity/open-connections.ts",
      "src/stores/reconnect-delay.ts",
    ]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\//g, "").replace(/(?<=^|\s)\/\/.*$/gm, "");
}
