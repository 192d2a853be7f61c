import { expect, it } from "vitest";
import { fileNameFault } from "../../scripts/lint/file-name.ts";

it.each(["src/utils.ts", "src/http/types.ts", "src/auth/helpers.ts"])("refuses %s, which fits anything", (file) => {
  expect(fileNameFault(file)).toMatch("name the file after what it exports");
});

it.each(["src/http/rateLimit.ts", "src/http/RateLimit.ts"])("refuses %s, which is not kebab-case", (file) => {
  expect(fileNameFault(file)).toMatch("is not kebab-case");
});

it.each(["src/portico-app.ts", "src/http/limits/rate-limit.ts", "src/types/index.ts", "test/types.ts"])(
  "lets %s pass",
  (file) => {
    expect(fileNameFault(file)).toBeUndefined();
  },
);
