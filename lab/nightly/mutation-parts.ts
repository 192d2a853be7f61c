import type { Part } from "./part.ts";

/** A folder of `src/`, the share of its mutants that fits into an hour, and a file with the tests that judge it in seconds. */
interface Mutated {
  readonly folder: string;
  readonly sample: number;
  readonly file: string;
  readonly test: string;
}

const mutated: readonly Mutated[] = [
  {
    folder: "auth",
    sample: 0.03,
    file: "src/auth/sessions/device-label.ts",
    test: "test/auth/sessions/device-label.test.ts",
  },
  {
    folder: "pagination",
    sample: 0.08,
    file: "src/pagination/conditions/condition.ts",
    test: "test/pagination/conditions/condition.test.ts",
  },
  {
    folder: "limits",
    sample: 0.3,
    file: "src/graphql/limits/scan-tokens.ts",
    test: "test/graphql/limits/{limits,scan-tokens}.test.ts",
  },
  {
    folder: "uploads",
    sample: 0.4,
    file: "src/graphql/uploads/upload-map.ts",
    test: "test/graphql/uploads/{uploads,refusals}.test.ts",
  },
  {
    folder: "execute",
    sample: 0.12,
    file: "src/graphql/execute/plan/coerce-variables.ts",
    test: "test/graphql/{execute/{graphql17,plan,plan-values,bad-variables},params,types}.test.ts",
  },
  { folder: "http", sample: 0.04, file: "src/http/html/accepts-encoding.ts", test: "test/http/html/*.test.ts" },
  {
    folder: "kernel",
    sample: 0.06,
    file: "src/kernel/limits/charge.ts",
    test: "test/kernel/limits/{budget,charges}.test.ts",
  },
];

/** A part for each folder. The long form takes other mutants with every seed. */
export const mutationParts: readonly Part[] = mutated.map(mutation);

function mutation({ folder, sample, file, test }: Mutated): Part {
  return {
    name: `mutation-${folder}`,
    does: `Mutants of \`${folder}\`, of which the tests have to notice 85 %`,
    minutes: { long: 60, short: 0.5 },
    needs: ["tools/mutation"],
    commands: (form, seed) => {
      const short = ["--file", file, "--test", test];
      const long = ["--sample", String(sample), "--seed", String(seed)];
      return [{ run: ["node", "lab/mutation.ts", "--folder", folder, ...(form === "short" ? short : long)] }];
    },
  };
}
