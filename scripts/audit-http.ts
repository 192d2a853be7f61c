import { type AuditResult, auditServer } from "graphql-http";
import { field, Graph, schema, t } from "../src/graphql/index.ts";
import { PorticoApp } from "../src/index.ts";
import { deliver, type Verdict } from "./spec/verdict.ts";

/**
 * Audits that ask for 200 where a document does not parse, does not validate or its variables do not fit, if the client
 * takes `application/json`. Portico's status is the same under both media types: 400.
 */
const CONTRADICTED: readonly string[] = ["572B", "FDE2", "7B9B"];

/** What one audit found, as far as it is judged. */
export type Audited = Pick<AuditResult, "id" | "name" | "status"> & { readonly reason?: string };

/** Audits a running server of Portico's with the suite of graphql-http. */
export async function auditHttp(): Promise<readonly Audited[]> {
  const app = new PorticoApp({ logger: false });
  new Graph(schema({ query: { hello: field(t.string)(() => "world") } }), { introspection: true }).mount(app);
  const { url } = await app.listen({ port: 0 });
  try {
    return await auditServer({ url: `${url}/graphql` });
  } finally {
    await app.close();
  }
}

/** Good when the audits that warn are those that are contradicted, all of them, and none is an error. */
export function judgeAudits(results: readonly Audited[]): Verdict {
  const lines = results.map(({ status, id, name, reason }) =>
    status === "ok" ? `ok     ${id} ${name}` : `${status.padEnd(6)} ${id} ${name}: ${reason ?? ""}`,
  );
  const open = results.filter(({ status }) => status !== "ok");
  const unexpected = open.filter(({ id, status }) => status !== "warn" || !CONTRADICTED.includes(id));
  const surprising = CONTRADICTED.filter((id) => !open.some((result) => result.id === id));
  const faults = [
    ...unexpected.map(({ id, status }) => `error: ${id} is to be ok, and is ${status}`),
    ...surprising.map((id) => `error: ${id} is to warn, and does not`),
  ];
  const [warnings, errors] = ["warn", "error"].map((wanted) => open.filter(({ status }) => status === wanted).length);
  const sum = `${results.length - open.length} of ${results.length} audits ok, ${warnings} warn, ${errors} error`;
  return { lines: [...lines, ...faults, sum], ok: faults.length === 0 && results.length > CONTRADICTED.length };
}

if (import.meta.main) {
  const results = await auditHttp();
  deliver("audit:http", () => judgeAudits(results));
}
