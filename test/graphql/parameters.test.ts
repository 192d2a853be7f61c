/* oxlint-disable typescript/no-implied-eval, typescript/unbound-method, typescript/no-extraneous-class, eslint/no-extra-bind -- functions of every form are what is read here */
import { describe, expect, it } from "vitest";
import { sourceParameters } from "../../src/core/source-parameters.ts";

const make = (source: string): ((...args: never) => unknown) => new Function(`return (${source})`)() as () => unknown;
const method = (source: string): ((...args: never) => unknown) =>
  Object.values(new Function(`return ({ ${source} })`)() as Record<string, () => unknown>)[0] as () => unknown;
const pattern = (...keys: string[]): object => ({ kind: "object", keys, hasRest: false, hasDefault: false });
const other = { kind: "other", keys: [], hasRest: false, hasDefault: false };

describe("the names that a function destructures", () => {
  it.each([
    ["({ a, b }) => a", "a", "b"],
    ["({a:b,c:d})=>b", "a", "c"],
    ["async ({ a }) => a", "a"],
    ["function ({ a, b, }) {}", "a", "b"],
    ["function named({ a }) {}", "a"],
    ["async function* named ( { a } ) {}", "a"],
    ["function /* ( { x } */ named /* => */ (/* one */ { /* two */ a /* , b */ , // c, }\n d }) {}", "a", "d"],
    ["({ a: { b: [c, { d }] }, e }) => c", "a", "e"],
    ["({ a = ')', b = \"}\", c = `}${{ x: `)` }.x}` }) => a", "a", "b", "c"],
    ["({ a = (x, y) => ({ x, y }), b = [1, 2], c }) => a", "a", "b", "c"],
    ["({ a = /[)}/]\\/,/g, b = 4 / 2 / 1, c }) => a", "a", "b", "c"],
    ["({ a = b => /}/.test(b), c }) => a", "a", "c"],
    ["({ a = class { m({ z }) {} }, b }) => a", "a", "b"],
    ["({ \"a\": x, 'b': y, 3: z }) => x", "a", "b", "3"],
    ["({ caf\\u00e9, \\u{61}b, größe, $x, _y }) => $x", "café", "ab", "größe", "$x", "_y"],
    ["({ async, get, of, static: s }) => s", "async", "get", "of", "static"],
    ["({ a } = {}) => a", "a"],
  ])("of %s", (source, ...keys) => {
    expect(sourceParameters(make(source))).toMatchObject([
      { ...pattern(...keys), hasDefault: source.includes("= {}") },
    ]);
  });

  it.each([
    ["m({ a }) {}", "a"],
    ["async m({ a }) {}", "a"],
    ["*m({ a }) {}", "a"],
    ["async *m({ a }) {}", "a"],
    ["['(' + 'x']({ a }) {}", "a"],
    ["'a (quoted) key'({ a }) {}", "a"],
    ["12({ a }) {}", "a"],
    ["async({ a }) {}", "a"],
    ["get({ a }) {}", "a"],
  ])("of the method %s", (source, ...keys) => {
    expect(sourceParameters(method(source))).toEqual([pattern(...keys)]);
  });

  it("are found for the methods of a class, including private ones", () => {
    class Methods {
      static one({ a }: { a: unknown }): unknown {
        return [a, Methods.#two];
      }
      static #two({ b }: { b: unknown }): unknown {
        return b;
      }
      three({ c }: { c: unknown }): unknown {
        return c;
      }
      static two = Methods.#two;
    }

    expect(sourceParameters(Methods.one)).toEqual([pattern("a")]);
    expect(sourceParameters(Methods.two)).toEqual([pattern("b")]);
    expect(sourceParameters(Methods.prototype.three)).toEqual([pattern("c")]);
  });
});

describe("the parameters of a function", () => {
  it.each([
    ["() => 1", []],
    ["function () {}", []],
    ["a => a", [other]],
    ["async a => a", [other]],
    ["async => 1", [other]],
    ["(a) => a", [other]],
    ["(a, b) => a", [other, other]],
    ["([a]) => a", [other]],
    ["(a = ({ b }) => b) => a", [{ ...other, hasDefault: true }]],
    ["(user, { parent }) => parent", [other, pattern("parent")]],
    ["(user, { parent } = {}) => parent", [other, { ...pattern("parent"), hasDefault: true }]],
    ["(...all) => all", [{ ...other, kind: "rest" }]],
    ["({ a }, ...all) => a", [pattern("a"), { ...other, kind: "rest" }]],
    ["({ a, ...rest }) => a", [{ ...pattern("a"), hasRest: true }]],
    ["({ a }, b) => a", [pattern("a"), other]],
  ])("of %s", (source, parameters) => {
    expect(sourceParameters(make(source))).toEqual(parameters);
  });

  it("are null if the source does not show them", () => {
    expect(sourceParameters(Math.max)).toBeNull();
    expect(sourceParameters((({ a }: { a: unknown }) => a).bind(null))).toBeNull();
    expect(sourceParameters(make("({ ['a']: b }) => b"))).toBeNull();
    expect(sourceParameters(class {} as never)).toBeNull();
    expect(sourceParameters(new Proxy(() => 1, {}))).toBeNull();
  });
});
