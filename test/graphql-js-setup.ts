import { Plan } from "../src/graphql/execute/plan/plan.ts";

// With PORTICO_EXECUTOR=graphql-js the tests run without plans, so that graphql executes every operation.
Plan.compile = () => null;
