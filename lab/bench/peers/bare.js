import { resolve, typeDefs } from "./schema.js";
import { serve } from "./serve.js";

const [engine = "16", jit] = process.argv.slice(2);
const { buildSchema, execute, parse, validate } = await import(engine === "17" ? "graphql17" : "graphql");
const { compileQuery } = jit === "jit" ? await import("graphql-jit") : {};
const schema = resolve(buildSchema(typeDefs));
const documents = new Map();

serve(async (body) => {
  const { query, variables, operationName } = JSON.parse(body);
  let run = documents.get(query);
  if (run === undefined) {
    const document = parse(query);
    const errors = validate(schema, document);
    if (errors.length > 0) return JSON.stringify({ errors });
    if (compileQuery === undefined)
      run = (variableValues) => execute({ schema, document, variableValues, operationName });
    else {
      const compiled = compileQuery(schema, document, operationName);
      run = (variableValues) => compiled.query({}, {}, variableValues ?? {});
    }
    if (documents.size >= 1_000) documents.clear();
    documents.set(query, run);
  }
  return JSON.stringify(await run(variables));
});
