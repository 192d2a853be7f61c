import { HttpException } from "./http-exception.ts";

/** A sign-in that waits for the second factor. */
export interface PendingSignIn {
  /** The single-use token that completes it. */
  readonly pending: string;
  /** The ways to complete it. */
  readonly methods: readonly string[];
}

/** 403: the caller has signed in with one factor, and a second one is required. */
export class SecondFactorRequired extends HttpException {
  override readonly name: string = "SecondFactorRequired";
  readonly #signIn: PendingSignIn | undefined;

  constructor(signIn?: PendingSignIn) {
    super(403, "A second factor is required. Sign in with your second factor.", { code: "SECOND_FACTOR_REQUIRED" });
    this.#signIn = signIn;
  }

  override get members(): Readonly<Record<string, unknown>> {
    return { ...this.#signIn };
  }
}
