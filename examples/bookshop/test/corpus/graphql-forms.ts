import { SocketRefused } from "portico/testing";
import { expect } from "vitest";
import { type Answer, type Header, type Rows } from "../../../../test/system/corpus/answer.ts";
import { bytesOf, dial } from "../../../../test/system/corpus/wire.ts";
import { as, ask, post, send, theShop } from "./the-shop.ts";

const EVIL: Header = ["origin", "https://evil.example"];
const REFUSED = "403 CROSS_SITE_REFUSED";
// Anonymous callers may not ship orders, so an accepted request fails with that error, and a rejected one never gets
// there.
const TAKEN = "200 UNAUTHENTICATED";
const urlencoded = async (...headers: Header[]): Promise<string> =>
  (
    await send("/graphql", {
      headers: [["content-type", "application/x-www-form-urlencoded"], ...headers],
      body: 'query=mutation{shipOrder(id:"x"){id}}',
    })
  ).verdict;

interface Part {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly filename?: string;
  readonly type?: string | null;
}
const SET_COVER = 'mutation($file:Upload!){setCover(book:"book-6",file:$file){cover}}';
const operations = (variables: unknown = { file: null }, query = SET_COVER): Part => ({
  name: "operations",
  content: JSON.stringify({ query, variables }),
});
const batch = (length: number): Part => ({
  name: "operations",
  content: JSON.stringify(Array.from({ length }, () => ({ query: SET_COVER, variables: { file: null } }))),
});
const map = (paths: unknown): Part => ({ name: "map", content: JSON.stringify(paths) });
const file = (more: Partial<Part> = {}): Part => ({
  name: "0",
  content: "picture",
  filename: "a.png",
  type: "image/png",
  ...more,
});
const AT_FILE = map({ 0: ["variables.file"] });
const whole = (more: Partial<Part> = {}): readonly Part[] => [operations(), AT_FILE, file(more)];

function form(parts: readonly Part[]): Buffer {
  return Buffer.concat([
    ...parts.flatMap(({ name, content, filename, type }) => {
      const more = filename === undefined ? "" : `; filename="${filename}"`;
      const declared = type === undefined || type === null ? "" : `\r\ncontent-type: ${type}`;
      const head = `--edge\r\ncontent-disposition: form-data; name="${name}"${more}${declared}\r\n\r\n`;
      return [Buffer.from(head), Buffer.from(content as string), Buffer.from("\r\n")];
    }),
    Buffer.from("--edge--\r\n"),
  ]);
}

async function upload(
  parts: readonly Part[],
  type = "multipart/form-data; boundary=edge",
  ...more: Header[]
): Promise<Answer> {
  const headers = [["content-type", type] as const, await as("staff"), ...more];
  return send("/graphql", { headers, body: form(parts) });
}
const says = async (parts: readonly Part[]): Promise<string> => (await upload(parts)).verdict;
const INVALID = "400 UPLOAD_INVALID";
const PREFLIGHT: Header = ["graphql-require-preflight", "1"];
const TYPE = "multipart/form-data; boundary=edge";

/** D. Forgery and origin */
export const forgery: Rows = {
  async "D1 a form of a foreign origin is 403"() {
    expect(await urlencoded(EVIL)).toBe(REFUSED);
  },
  async "D2 a form of the origin null is 403"() {
    expect(await urlencoded(["origin", "null"])).toBe(REFUSED);
  },
  async "D3 a form of another site is 403"() {
    expect(await urlencoded(["sec-fetch-site", "cross-site"])).toBe(REFUSED);
  },
  async "D4 a form of a sibling is 403"() {
    expect(await urlencoded(["sec-fetch-site", "same-site"], ["origin", "http://blog.shop.example"])).toBe(REFUSED);
  },
  async "D5 a form of the shop itself is taken"() {
    expect(await urlencoded(["sec-fetch-site", "same-origin"])).toBe(TAKEN);
    expect(await urlencoded(["origin", "http://shop.example"])).toBe(TAKEN);
  },
  async "D6 an upload of a foreign origin is 403"() {
    expect((await upload(whole(), TYPE, EVIL)).verdict).toBe(REFUSED);
  },
  async "D7 an upload with a header that needs a preflight is taken"() {
    for (const name of ["graphql-require-preflight", "apollo-require-preflight"])
      expect((await upload(whole(), TYPE, EVIL, [name, "1"])).verdict).toBe("200");
  },
  async "D8 that header without a value is ignored"() {
    expect((await upload(whole(), TYPE, EVIL, ["graphql-require-preflight", ""])).verdict).toBe(REFUSED);
  },
  async "D9 a multipart type that names JSON is multipart"() {
    const headers: Header[] = [["content-type", "multipart/form-data; boundary=x; application/json"], EVIL];
    expect((await send("/graphql", { headers, body: '{"query":"{me{id}}"}' })).verdict).toBe(REFUSED);
  },
  async "D10 what no browser sent is taken"() {
    expect(await urlencoded()).toBe(TAKEN);
  },
  async "D11 a socket of a foreign origin is 403"() {
    expect(await upgrade({ origin: "https://evil.example" })).toBe(403);
  },
  async "D12 a socket whose Host is made up is 403"() {
    expect(await upgrade({ host: "evil.example", origin: "http://evil.example" })).toBe(403);
  },
  async "D13 the page cannot be framed"() {
    const page = await send("/graphql", { headers: [["accept", "text/html"]] });
    expect([page.status, page.headers["content-security-policy"]]).toEqual([
      200,
      expect.stringContaining("frame-ancestors 'none'"),
    ]);
  },
  async "D14 typed into the address bar it is taken"() {
    expect(await urlencoded(["sec-fetch-site", "none"])).toBe(TAKEN);
  },
  async "D15 a link from another site leads to the page"() {
    const page = await send("/graphql", {
      headers: [
        ["accept", "text/html"],
        ["sec-fetch-site", "cross-site"],
      ],
    });
    expect([page.status, page.headers["content-type"]]).toEqual([200, expect.stringContaining("text/html")]);
  },
};

async function upgrade(headers: Readonly<Record<string, string>>): Promise<number> {
  const socket = theShop().client.socket("/graphql", { headers, protocols: ["graphql-transport-ws"] });
  return socket.then(
    (open) => {
      open.close();
      return 101;
    },
    (error: unknown) => (error instanceof SocketRefused ? error.response.status : 0),
  );
}

/** H. Uploads: the shop takes one file of up to 2 MB, PNG or JPEG. */
export const uploads: Rows = {
  async "H2 an invalid boundary is 400"() {
    for (const type of ["multipart/form-data", `multipart/form-data; boundary=${"x".repeat(300)}`])
      expect((await upload(whole(), type)).status).toBe(400);
  },
  async "H3 invalid operations are 400"() {
    for (const content of ["{bad", "null", "[null]"])
      expect((await upload([{ name: "operations", content }, AT_FILE, file()])).status).toBe(400);
    expect(await says([AT_FILE, file()])).toBe(INVALID);
  },
  async "H4 an invalid map is 400"() {
    for (const content of ["{bad", "null", "[]", '{"0":"variables.file"}', '{"0":[1]}'])
      expect(await says([operations(), { name: "map", content }, file()])).toBe(INVALID);
    expect(await says([operations(), file()])).toBe(INVALID);
  },
  async "H5 another order is 400"() {
    expect(await says([AT_FILE, operations(), file()])).toBe(INVALID);
    expect(await says([operations(), file(), AT_FILE])).toBe(INVALID);
  },
  async "H6 paths to prototypes are 400"() {
    for (const path of [
      "__proto__.polluted",
      "variables.__proto__.x",
      "variables.constructor.prototype.p",
      "variables.hasOwnProperty.call",
    ])
      expect(await says([operations(), map({ 0: [path] }), file()])).toBe(INVALID);
  },
  async "H7 paths outside of variables are 400"() {
    for (const path of ["query", "operationName", "extensions.x", "variables"])
      expect(await says([operations(), map({ 0: [path] }), file()])).toBe(INVALID);
  },
  async "H8 a path to what is not null is 400"() {
    expect(await says([operations({ file: "x" }), AT_FILE, file()])).toBe(INVALID);
  },
  async "H9 a path to nothing is 400"() {
    for (const at of ["nope.deep", "fs.99", "fs.-1", "fs.1e3", "fs.length", "fs.00"])
      expect(await says([operations({ fs: [null] }), map({ 0: [`variables.${at}`] }), file()])).toBe(INVALID);
  },
  async "H10 too long and too many paths are 400"() {
    expect(await says([operations(), map({ 0: [`variables${".a".repeat(10_000)}`] }), file()])).toBe(INVALID);
    expect(await says([operations(), map({ 0: Array(10_000).fill("variables.file") }), file()])).toBe(INVALID);
  },
  async "H11 a part that never arrives is 400"() {
    expect(await says([operations(), AT_FILE])).toBe(INVALID);
  },
  async "H12 a part that is not in the map is 400"() {
    expect((await upload([operations(), AT_FILE, file({ name: "1" })])).status).toBe(400);
  },
  async "H13 parts that stand twice are 400"() {
    expect(await says([operations(), operations(), AT_FILE, file()])).toBe(INVALID);
  },
  async "H14 more files than are taken are 413"() {
    const two = map({ 0: ["variables.file"], 1: ["variables.more"] });
    expect(await says([operations({ file: null, more: null }), two, file(), file({ name: "1" })])).toBe(
      "413 PAYLOAD_TOO_LARGE",
    );
  },
  async "H15 a byte too many is 413"() {
    expect(await says(whole({ content: Buffer.alloc(2 * 1024 ** 2 + 1) }))).toBe("413 PAYLOAD_TOO_LARGE");
  },
  async "H17 the declared type decides, and the bytes stay as they are"() {
    const content = "<script>alert(1)</script>";
    expect(await says(whole({ content }))).toBe("200");
    const cover = await send("/books/book-6/cover");
    expect([cover.text, cover.headers["content-type"], cover.headers["x-content-type-options"]]).toEqual([
      content,
      "image/png",
      "nosniff",
    ]);
  },
  async "H18 types are compared as types"() {
    const verdicts = [];
    for (const type of ["text/html", "IMAGE/PNG", "image/png; x=y", null, "image/"])
      verdicts.push(await says(whole({ type })));
    const REFUSED_TYPE = "400 UPLOAD_TYPE_REFUSED";
    expect(verdicts).toEqual([REFUSED_TYPE, "200", "200", REFUSED_TYPE, REFUSED_TYPE]);
  },
  async "H19 a file's name is data"() {
    for (const filename of ["../../etc/passwd", "x".repeat(250), ""])
      expect((await upload(whole({ filename }))).verdict).toBe("200");
    for (const filename of ["x".repeat(10_000), "\u202Egnp.exe", "a\u001B.png"])
      expect((await upload(whole({ filename }))).verdict).toBe("400 FILE_NAME_INVALID");
  },
  async "H20 a document that does not fit is 400"() {
    expect(await says([operations({ file: null }, "mutation($file:Upload!){nope(f:$file)}"), AT_FILE, file()])).toBe(
      "400 GRAPHQL_VALIDATION_FAILED",
    );
  },
  async "H21 one file for two fields is read by both"() {
    const query =
      'mutation($file:Upload!){a:setCover(book:"book-6",file:$file){id} b:setCover(book:"book-7",file:$file){id}}';
    expect(await says([operations({ file: null }, query), AT_FILE, file({ content: "both" })])).toBe("200");
    expect([(await send("/books/book-6/cover")).text, (await send("/books/book-7/cover")).text]).toEqual([
      "both",
      "both",
    ]);
  },
  async "H22 a file is named many times in a document"() {
    const aliases = Array.from({ length: 20 }, (_, i) => `a${i}:setCover(book:"book-6",file:$file){id}`).join(" ");
    expect(await says([operations({ file: null }, `mutation($file:Upload!){${aliases}}`), AT_FILE, file()])).toBe(
      "200",
    );
  },
  async "H23 who leaves in the middle has changed nothing"() {
    await upload(whole({ content: "before" }));
    const socket = await dial(theShop().client.port);
    const body = form(whole({ content: Buffer.alloc(1024 ** 2, "x") }));
    const bytes = bytesOf("/graphql", { headers: [["content-type", TYPE], await as("staff")], body });
    socket.write(bytes.subarray(0, bytes.length / 2));
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect((await send("/books/book-6/cover")).text).toBe("before");
  },
  async "H24 a batch of uploads is answered, within the limit of a batch"() {
    expect((await upload([batch(1), map({ 0: ["0.variables.file"] }), file()])).status).toBe(200);
    expect(await says([batch(1), AT_FILE, file()])).toBe(INVALID);
    expect(await says([batch(11), map({ 0: ["0.variables.file"] }), file()])).toBe("400 BATCH_REFUSED");
  },
  async "H25 a file does not come through JSON"() {
    for (const value of ["x", {}])
      expect((await ask(SET_COVER, { file: value }, [await as("staff")])).verdict).toBe("400 BAD_USER_INPUT");
  },
  async "H26 large headers, many fields and a long preamble are refused"() {
    const many = Array.from({ length: 10_000 }, (_, i): Part => ({ name: `f${i}`, content: "x" }));
    expect((await upload([operations(), AT_FILE, ...many, file()])).status).toBe(400);
    const headers = [["content-type", TYPE] as const, await as("staff"), PREFLIGHT];
    const long = Buffer.concat([Buffer.alloc(4 * 1024 ** 2, "x"), Buffer.from("\r\n"), form(whole())]);
    expect((await send("/graphql", { headers, body: long })).verdict).toBe("413 PAYLOAD_TOO_LARGE");
    expect((await post("/graphql", { query: "{me{id}}" })).status).toBe(200);
  },
};
