import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../cli/run-portico.ts";

const config = join(import.meta.dirname, "fixtures/described-gates.config.ts");
interface Listed {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
}
const listed = async (): Promise<readonly Listed[]> =>
  JSON.parse((await runHere(["routes", "--json", "--config", config])).out) as readonly Listed[];

describe("portico routes", () => {
  it("says in words whom each gate lets in", async () => {
    const words = Object.fromEntries((await listed()).map(({ path, auth }) => [path, auth]));

    expect(words).toEqual({
      "/open": "anyone",
      "/put": "anyone",
      "/rows": "anyone",
      "/graphql": "anyone",
      "/signed-in": "signed in",
      "/optional": "anyone",
      "/by-key": "signed in by apikey",
      "/by-two": "anonymous, or signed in by jwt or session",
      "/one": "permission a",
      "/two": "permissions a and b",
      "/all": "permission a by session with a second factor within the last 60 s",
      "/optional-one": "anonymous, or permission a",
      "/function": "signed in, isEditor()",
      "/unnamed": "signed in, a function",
      "/inline": "signed in, a function",
      "/own": "signed in, a check of the application",
      "/own-optional": "a check of the application",
      "/not": "not (permission a)",
      "/not-function": "not (signed in, isEditor())",
      "/every": "permission a and permission b and isEditor()",
      "/every-unnamed": "permission a and a function",
      "/every-of-some": "permission a and (permission b or isEditor())",
      "/every-of-every": "permission a and permission b and isEditor()",
      "/some": "permission a or isEditor()",
      "/some-of-every": "permission a or (permission b and isEditor())",
      "/some-of-some": "permission a or permission b or isEditor()",
      "/implied": "permission a",
      "/implied-by-function": "isEditor()",
      "/not-implied": "signed in and anonymous, or permission a",
      "/not-implied-by-not": "signed in and not (permission a)",
      "/some-keeps": "signed in or permission a",
      "/twice": "signed in",
      "/repeated": "permission a or permission b",
    });
  });

  it("lists the methods of a GraphQL endpoint that serve it, and not those that reject", async () => {
    const methods = (await listed()).filter(({ path }) => path === "/graphql").map(({ method }) => method);

    expect(methods).toEqual(["GET", "POST"]);
  });
});

describe("portico audit", () => {
  it("says in words which items a list has, and which objects of a type a caller sees", async () => {
    const { out } = await runHere(["audit", "--json", "--config", config]);
    const { table } = JSON.parse(out) as { readonly table: readonly { kind: string; place: string; gate: string }[] };

    expect(table.find(({ kind }) => kind === "list")).toMatchObject({
      place: "GET /rows",
      gate: "rule row.own and not (rule row.own)",
    });
    expect(table.find(({ kind }) => kind === "type")).toMatchObject({ place: "Note", gate: "signed in, isEditor()" });
  });
});
