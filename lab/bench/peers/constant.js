import { expected } from "../graphql/workloads.ts";
import { serve } from "./serve.js";

const isText = process.argv[2] === "text";
const texts = Object.fromEntries(Object.entries(expected).map(([name, data]) => [name, JSON.stringify({ data })]));

serve((body, workload) => {
  if (isText) return texts[workload];
  JSON.parse(body);
  return JSON.stringify({ data: expected[workload] });
});
