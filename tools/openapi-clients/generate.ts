import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import openapiTypescript, { astToString } from "openapi-typescript";

// Writes both clients of generated/openapi.json beside it. Node runs them as they are, so imports need their extension.
const folder = join(import.meta.dirname, "generated");
const input = join(folder, "openapi.json");
const types = await openapiTypescript(readFileSync(input, "utf8"));
writeFileSync(join(folder, "openapi-typescript.d.ts"), astToString(types));
await createClient({
  input,
  output: { path: join(folder, "hey-api"), importFileExtension: ".ts", tsConfigPath: null },
  plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
  logs: { level: "warn", file: false },
});
