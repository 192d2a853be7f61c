import type { StandardSchemaV1 } from "@standard-schema/spec";
import { Account } from "./account.ts";
import { Tokens } from "./login-route.ts";
import { either } from "./record-schema.ts";

type OutputOf<S extends StandardSchemaV1> = StandardSchemaV1.InferOutput<S>;

/** The response of a sign-in: the tokens, or the account if the session has a cookie. */
export const SignInResult: StandardSchemaV1<OutputOf<typeof Tokens> | OutputOf<typeof Account>> = either(
  Tokens,
  Account,
);
