import type { StandardSchemaV1 } from "@standard-schema/spec";
import { Account } from "../schemas/account.ts";
import { either } from "../schemas/record-schema.ts";
import { Tokens } from "./login-route.ts";

type OutputOf<S extends StandardSchemaV1> = StandardSchemaV1.InferOutput<S>;

/** The response of a sign-in: the tokens, or the account if the session has a cookie. */
export const SignInResult: StandardSchemaV1<OutputOf<typeof Tokens> | OutputOf<typeof Account>> = either(
  Tokens,
  Account,
);
