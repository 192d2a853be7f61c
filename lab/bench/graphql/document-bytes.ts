import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { buildSchema } from "graphql";
import { Preparer } from "../../../src/graphql/admit/preparer.ts";
import { Limits } from "../../../src/graphql/limits/limits.ts";
import { workloads } from "./workloads.ts";

const DOCUMENTS = 1_000;

/** The memory of a cached document of workload C, in bytes: before it was executed, and with its plan. */
export async function documentBytes(): Promise<{ readonly prepared: number; readonly executed: number }> {
  const { resolve, typeDefs } = (await import(new URL("../peers/schema.js", import.meta.url).href)) as {
    readonly resolve: (schema: ReturnType<typeof buildSchema>) => ReturnType<typeof buildSchema>;
    readonly typeDefs: string;
  };
  const schema = resolve(buildSchema(typeDefs));
  const { query, variables } = JSON.parse(workloads["C"]?.body(0) ?? "") as {
    readonly query: string;
    readonly variables: Readonly<Record<string, unknown>>;
  };
  const measure = async (isExecuted: boolean): Promise<number> => {
    const preparer = new Preparer(schema, { limits: new Limits(), introspection: true, cacheBytes: 2 ** 30 });
    const before = heapUsed();
    for (let at = 0; at < DOCUMENTS; at++) {
      const { plan } = preparer.prepare(preparer.choose(query.replace("List0", `Document${at}`), null));
      const input = { rootValue: undefined, contextValue: {}, variables, mostObjects: 1_000 };
      if (isExecuted) await plan()?.execute(input);
    }
    const bytes = (heapUsed() - before) / DOCUMENTS;
    // Uses the preparer, so that it is not collected before it was measured.
    preparer.choose("{ hello }", null);
    return Math.round(bytes);
  };
  await measure(true);
  return { prepared: await measure(false), executed: await measure(true) };
}

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
