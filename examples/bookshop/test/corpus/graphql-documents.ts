import { getIntrospectionQuery } from "graphql";
import { expect } from "vitest";
import { JSON_TYPE, type Rows } from "../../../../test/system/corpus/answer.ts";
import { as, ask, post, send } from "./the-shop.ts";

const CHARACTERS = "400 CHARACTER_LIMIT_EXCEEDED";
const TOKENS = "400 TOKEN_LIMIT_EXCEEDED";
const DEPTH = "400 DEPTH_LIMIT_EXCEEDED";
const BREADTH = "400 BREADTH_LIMIT_EXCEEDED";
const COST = "400 COST_LIMIT_EXCEEDED";

const verdict = async (query: string, variables?: object): Promise<string> => (await ask(query, variables)).verdict;
const times = (count: number, piece: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => piece(index)).join(" ");
/** Types can be nested as deeply as needed, and nothing multiplies. */
const deep = (levels: number, leaf = "name"): string =>
  `{__type(name:"Book"){${"ofType{".repeat(levels - 2)}${leaf}${"}".repeat(levels - 1)}}`;
const nest = (open: string, inner: string, close: string): string => open.repeat(20_000) + inner + close.repeat(20_000);
const mutations = (count: number): string => `mutation{${times(count, (i) => `a${i}:shipOrder(id:"x"){id}`)}}`;
const fragments = (count: number): string =>
  `{${times(count, (i) => `...F${i}`)}} ${times(count, (i) => `fragment F${i} on Query{me{id}}`)}`;
const cost = async (query: string): Promise<number> => (await ask(query)).said.extensions?.cost?.["cost"] ?? 0;

/** E. Document complexity */
export const complexity: Rows = {
  async "E1 depth 16 is refused, 15 is not"() {
    expect([await verdict(deep(16)), await verdict(deep(15))]).toEqual([DEPTH, "200"]);
  },
  async "E2 5,000 deep is refused by tokens"() {
    expect(await verdict(deep(5_000))).toBe(TOKENS);
  },
  async "E3 literals and types nested 20,000 deep are refused by tokens"() {
    expect(await verdict(`{search(text:${nest("[", "1", "]")}){__typename}}`)).toBe(TOKENS);
    expect(await verdict(`query($x:${nest("[", "Int", "]")}){me{id}}`)).toBe(TOKENS);
    expect(await verdict(`{book(by:${nest("{id:", "1", "}")}){id}}`)).toBe(CHARACTERS);
  },
  async "E4 aliases are refused by their length, else by tokens, else as aliases"() {
    expect(await verdict(`{${times(10_000, (i) => `a${i}:me{id}`)}}`)).toBe(CHARACTERS);
    expect(await verdict(`{${times(1_000, (i) => `a${i}:me{id}`)}}`)).toBe(TOKENS);
    expect(await verdict(`{${times(31, (i) => `a${i}:me{id}`)}}`)).toBe("400 ALIAS_LIMIT_EXCEEDED");
  },
  async "E5 aliases of a mutation count"() {
    expect([await verdict(mutations(1_000)), await verdict(mutations(31))]).toEqual([
      TOKENS,
      "400 ALIAS_LIMIT_EXCEEDED",
    ]);
  },
  async "E6 the same field again and again is refused by tokens, else by breadth"() {
    expect(await verdict(`{${"__typename ".repeat(5_000)}}`)).toBe(TOKENS);
    expect(await verdict(`{${"__typename ".repeat(101)}}`)).toBe(BREADTH);
  },
  async "E7 the same object again and again is refused by tokens, else by breadth"() {
    expect(await verdict(`{${"me{id} ".repeat(1_000)}}`)).toBe(TOKENS);
    expect(await verdict(`{${"me{id} ".repeat(101)}}`)).toBe(BREADTH);
  },
  async "E8 too many fields are refused by tokens, else as fields"() {
    expect(await verdict(`{${`me{${"id ".repeat(60)}} `.repeat(60)}}`)).toBe(TOKENS);
    const spread = `{${"...F ".repeat(20)}} fragment F on Query{me{${"id ".repeat(60)}}}`;
    expect(await verdict(spread)).toBe("400 FIELD_LIMIT_EXCEEDED");
  },
  async "E9 fragments are refused by tokens, else by breadth"() {
    expect([await verdict(fragments(500)), await verdict(fragments(101))]).toEqual([TOKENS, BREADTH]);
  },
  async "E10 inline fragments are refused by tokens, else by breadth"() {
    expect(await verdict(`{${"...{me{id}} ".repeat(2_000)}}`)).toBe(TOKENS);
    expect(await verdict(`{${"...{me{id}} ".repeat(101)}}`)).toBe(BREADTH);
  },
  async "E11 circles of fragments are refused"() {
    for (const size of [1, 2, 1_000]) {
      const circle = times(size, (i) => `fragment F${i} on Account{id ...F${(i + 1) % size}}`);
      expect((await ask(`{me{...F0}} ${circle}`)).status).toBe(400);
    }
  },
  async "E12 fragments that fan out are refused"() {
    const fan = times(22, (i) => `fragment F${i} on Account{...F${i + 1} ...F${i + 1}}`);
    expect(await verdict(`{me{...F0}} ${fan} fragment F22 on Account{id}`)).toBe(BREADTH);
  },
  async "E13 aliased fields that fan out are refused, and no figure is endless"() {
    for (const levels of [20, 60]) {
      const fan = times(levels, (i) => `fragment F${i} on __Type{x:ofType{...F${i + 1}} y:ofType{...F${i + 1}}}`);
      const answer = await ask(`{__type(name:"Book"){...F0}} ${fan} fragment F${levels} on __Type{name}`);
      expect([answer.status, /Infinity|NaN|e\+/.test(answer.text)]).toEqual([400, false]);
    }
  },
  async "E14 a fragment is measured under any name"() {
    for (const name of ["__schema", "__proto__", "constructor"])
      expect(await verdict(`{...${name}} fragment ${name} on Query${deep(16)}`)).toBe(DEPTH);
  },
  async "E15 a fragment that was shallow once counts where it is deep"() {
    const fragment = `fragment F on __Type${"{ofType".repeat(8)}{name}${"}".repeat(8)}`;
    const shallow = '{a:__type(name:"Book"){...F}';
    expect(await verdict(`${shallow}} ${fragment}`)).toBe("200");
    expect(await verdict(`${shallow} b:${deep(9, "...F").slice(1)} ${fragment}`)).toBe(DEPTH);
  },
  async "E16 5,000 unused fragments are refused by their length"() {
    expect(await verdict(`{me{id}} ${times(5_000, (i) => `fragment F${i} on Book{id}`)}`)).toBe(CHARACTERS);
  },
  async "E17 directives are refused by tokens, else as directives"() {
    expect(await verdict(`{__typename ${"@aa ".repeat(5_000)}}`)).toBe(TOKENS);
    expect(await verdict(`{__typename ${"@include(if:true) ".repeat(3_000)}}`)).toBe(TOKENS);
    expect(await verdict(`{__typename ${"@include(if:true) ".repeat(51)}}`)).toBe("400 DIRECTIVE_LIMIT_EXCEEDED");
  },
  async "E18 5,000 variables are refused by tokens"() {
    expect(await verdict(`query(${times(5_000, (i) => `$v${i}:Int`)}){me{id}}`)).toBe(TOKENS);
  },
  async "E19 3,000 operations are refused by tokens"() {
    const query = times(3_000, (i) => `query Q${i}{me{id}}`);
    expect((await post("/graphql", { query, operationName: "Q7" })).verdict).toBe(TOKENS);
  },
  async "E20 a long string and a long comment are one token, many comments are many"() {
    const text = "x".repeat(65_000);
    expect(await verdict(`{search(text:"""${text}"""){__typename}}`)).toBe("200");
    expect(await verdict(`#${text}\n{me{id}}`)).toBe("200");
    expect(await verdict(`#${text}${text}\n{me{id}}`)).toBe(CHARACTERS);
    const lines = {
      headers: [["content-type", "application/graphql"]] as const,
      body: `${"#\n".repeat(30_000)}{me{id}}`,
    };
    expect((await send("/graphql", lines)).verdict).toBe(TOKENS);
  },
  async "E21 what @skip leaves out counts"() {
    expect(await verdict(deep(16).replace(")", ") @skip(if:true)"))).toBe(DEPTH);
    expect(await verdict("{books(first:100) @skip(if:true){nodes{reviews{book{reviews{id}}}}}}")).toBe(COST);
  },
  async "E22 the selected operation is measured"() {
    const query = `query Big${deep(20)} query Small{me{id}}`;
    expect((await post("/graphql", { query, operationName: "Small" })).verdict).toBe("200");
    expect((await post("/graphql", { query, operationName: "Big" })).verdict).toBe(DEPTH);
  },
  async "E23 a size counts as at most the maximum"() {
    const [most, more] = [await ask("{books(first:100){nodes{id}}}"), await ask("{books(first:1000000){nodes{id}}}")];
    expect(more.said.extensions?.cost?.["cost"]).toBe(most.said.extensions?.cost?.["cost"]);
    expect(await verdict("{books(first:1000000){nodes{reviews{book{reviews{id}}}}}}")).toBe(COST);
  },
  async "E25 introspection that is nested 50 deep is refused"() {
    expect(await verdict(`{__schema{types{${"fields{type{".repeat(25)}name${"}}".repeat(25)}}}}`)).toBe(DEPTH);
  },
  async "E26 the standard introspection query fits"() {
    const answer = await ask(getIntrospectionQuery());
    expect([answer.verdict, answer.said.extensions?.cost?.["depth"]]).toEqual(["200", 15]);
  },
  async "E30 the cost follows the variables"() {
    const query = "query($n:Int){books(first:$n){nodes{reviews{book{reviews{id}}}}}}";
    expect(await verdict(query, { n: 1 })).toBe("200");
    expect(await verdict(query, { n: 1_000_000 })).toBe(COST);
    expect(await verdict(query, { n: "x" })).toBe("400 BAD_USER_INPUT");
  },
  async "E31 a size below 0 counts as none, a declared one as itself"() {
    expect(await cost("{books(first:-5){nodes{id}}}")).toBeLessThan(await cost("{books(first:1){nodes{id}}}"));
    const [plain, more] = [
      await cost('{author(id:"author-1"){books{nodes{id}}}}'),
      await cost('{author(id:"author-1"){books{nodes{id isbn}}}}'),
    ];
    expect(more - plain).toBe(5);
  },
  async "E32 depth answers before validation, validation before cost"() {
    expect(await verdict("{nope books(first:100){nodes{reviews{book{reviews{id}}}}}}")).toBe(
      "400 GRAPHQL_VALIDATION_FAILED",
    );
    expect(await verdict(deep(16, "nope"))).toBe(DEPTH);
  },
};

/** F. Introspection and leaks */
export const leaks: Rows = {
  async "F14 a gated field under two aliases, in a list"() {
    const query = "{books(first:100){nodes{a:costCents b:costCents}}}";
    const staff = await ask(query, {}, [await as("staff")]);
    const reader = await ask(query, {}, [await as("reader1")]);
    expect([staff.verdict, reader.verdict, reader.said.errors?.length]).toEqual(["200", "200 FORBIDDEN", 11]);
    expect(reader.said.errors?.at(-1)?.extensions).toMatchObject({ code: "TOO_MANY_ERRORS", count: 190 });
  },
  async "F15 a gate that asks the user, and an anonymous caller"() {
    const answer = await ask('{book(by:{id:"book-1"}){id costCents}}');
    expect([answer.verdict, answer.said.data]).toEqual([
      "200 UNAUTHENTICATED",
      { book: { id: "book-1", costCents: null } },
    ]);
  },
};

const HELLO = { query: "{me{id}}" };
const REFUSED = "400 BATCH_REFUSED";
const batch = async (
  entries: readonly unknown[],
): Promise<readonly { data?: unknown; errors?: readonly { extensions: { code: string } }[] }[]> => {
  const answer = await post("/graphql", entries);
  expect(answer.status).toBe(200);
  return answer.said as never;
};
const order = (book: string, copies: number): object => ({
  query: `mutation{placeOrder(books:[{book:"${book}",copies:${copies}}]){state}}`,
});

/** G. Batches */
export const batches: Rows = {
  async "G1 an empty one is refused"() {
    expect((await post("/graphql", [])).verdict).toBe(REFUSED);
  },
  async "G2 an entry that is not an operation has an error"() {
    for (const entry of [null, 1, [HELLO]]) {
      const [wrong, right] = await batch([entry, HELLO]);
      expect([wrong?.errors?.length, right?.data]).toEqual([1, { me: null }]);
    }
  },
  async "G3 one more than the cap is refused"() {
    expect(await batch(Array.from({ length: 10 }, () => HELLO))).toHaveLength(10);
    expect(
      (
        await post(
          "/graphql",
          Array.from({ length: 11 }, () => HELLO),
        )
      ).verdict,
    ).toBe(REFUSED);
  },
  async "G5 good, bad, good, in this order"() {
    const answers = await batch([HELLO, { query: "{nope}" }, { query: '{book(by:{id:"book-2"}){id}}' }]);
    expect(answers.map(({ data, errors }) => data ?? errors?.[0]?.extensions.code)).toEqual([
      { me: null },
      "GRAPHQL_VALIDATION_FAILED",
      { book: { id: "book-2" } },
    ]);
  },
  async "G7 a batch is JSON and nothing else"() {
    const form = [["content-type", "application/x-www-form-urlencoded"]] as const;
    const text = JSON.stringify([HELLO]);
    expect((await send("/graphql", { headers: form, body: text })).verdict).toBe(REFUSED);
    expect((await send(`/graphql?query=${encodeURIComponent(text)}`)).verdict).toBe(REFUSED);
  },
  async "G9 a subscription and @defer carry an error"() {
    const answers = await batch([
      { query: 'subscription{stockChanged(book:"book-1")}' },
      { query: "{...@defer{me{id}}}" },
      HELLO,
    ]);
    expect(answers.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual([
      "SUBSCRIPTION_NEEDS_STREAM",
      "GRAPHQL_VALIDATION_FAILED",
      undefined,
    ]);
  },
  async "G10 each entry has its own transaction"() {
    const answer = await send("/graphql", {
      headers: [JSON_TYPE, await as("reader1")],
      body: JSON.stringify([order("book-1", 1), order("book-1", 100), order("book-1", 1)]),
    });
    const said = answer.said as unknown as readonly { data?: unknown; errors?: readonly object[] }[];
    expect(said.map(({ errors }) => errors?.length ?? 0)).toEqual([0, 1, 0]);
  },
};
