import { expect, it } from "vitest";
import { fileNameFault } from "../../scripts/lint/file-name.ts";

it.each(["src/utils.ts", "src/http/types.ts", "src/auth/helpers.ts"])("rejects %s, which fits anything", (file) => {
  expect(fileNameFault(file, ["utils", "types", "helpers"])).toMatch("name the file after what it exports");
});

it.each(["src/http/rateLimit.ts", "src/http/RateLimit.ts"])("rejects %s, which is not kebab-case", (file) => {
  expect(fileNameFault(file, ["rateLimit"])).toMatch("is not kebab-case");
});

it.each([
  ["src/kernel/limits/limit.ts", ["rateLimit", "RateLimitOptions"], "(rateLimit, RateLimitOptions)"],
  ["src/core/size.ts", [], "(it has none)"],
])("rejects %s with the exports %j", (file, exported, named) => {
  expect(fileNameFault(file, exported)).toMatch(`name the file after its main export ${named}`);
});

it.each([
  ["src/portico-app.ts", ["Address", "PorticoApp"]],
  ["src/kernel/limits/rate-limit.ts", ["RateLimitOptions", "rateLimit"]],
  ["src/auth/api-keys/api-key-text.ts", ["APIKeyText"]],
  ["src/graphql/errors/graphql-denied.ts", ["GraphQLDenied"]],
  ["src/auth/passwords/schemes/argon2-scheme.ts", ["argon2Scheme"]],
  ["src/auth/tokens/version-claim.ts", ["VERSION_CLAIM"]],
  ["src/types/index.ts", []],
  ["src/stores/rate-limiter-flexible.d.ts", []],
  ["src/graphql/declare/types/t.ts", []],
  ["test/types.ts", []],
])("accepts %s with the exports %j", (file, exported) => {
  expect(fileNameFault(file, exported)).toBeUndefined();
});
