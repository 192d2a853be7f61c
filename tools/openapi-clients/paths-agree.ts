import type { Method, OperationOf, ResponseOf, RestOptions } from "../../packages/portico-client/src/paths.ts";
import type { paths as Theirs } from "./generated/openapi-typescript.d.ts";
import type { paths as Ours } from "./generated/paths.d.ts";

// For portico-client, the types of `portico client` and those of openapi-typescript mean the same.
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Agreement = {
  [P in Extract<keyof Ours, keyof Theirs>]: {
    [M in Method]:
      | Same<ResponseOf<OperationOf<Ours, P, M>>, ResponseOf<OperationOf<Theirs, P, M>>>
      | Same<RestOptions<OperationOf<Ours, P, M>>, RestOptions<OperationOf<Theirs, P, M>>>;
  }[Method];
};

export const haveSamePaths: Same<keyof Ours, keyof Theirs> = true;
/** If this does not compile, the error names the paths that differ. */
export const differing: { [P in keyof Agreement as false extends Agreement[P] ? P : never]: never } = {};
export const haveSameOperations: Same<Agreement[keyof Agreement], true> = true;
