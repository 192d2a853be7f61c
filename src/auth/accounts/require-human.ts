import { loggable } from "../../core/describe-error.ts";
import { withTimeout } from "../../core/work/with-timeout.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import { HttpException, ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";

/** Returns whether a person sent the request, for example by asking a CAPTCHA service about a token in a header. */
export type HumanCheck = (request: PorticoRequest) => Promise<boolean>;

/** A check that takes longer has failed. */
const TIMEOUT_MS = 5_000;

/** The part of the options that it reads. */
interface Asking {
  readonly options: { readonly isHuman: HumanCheck | undefined };
}

const ask = async (isHuman: HumanCheck, request: PorticoRequest): Promise<unknown> => isHuman(request);

/** Throws 403 for a program, before any password is checked and before the attempt counts for the account. */
export async function requireHuman(ctx: HttpContext, { options }: Asking): Promise<void> {
  const { isHuman } = options;
  if (isHuman === undefined) return;
  const answer = await withTimeout(TIMEOUT_MS, ask(isHuman, ctx.request)).catch((err: unknown) => {
    ctx.log.error({ err: loggable(err) }, "isHuman failed");
    throw new ServiceUnavailable("The request could not be checked for a person. Try again later.", {
      retryAfterSeconds: 5,
    });
  });
  if (answer !== true)
    throw new HttpException(403, "Confirm that you are a person, then try again.", { code: "HUMAN_CHECK_FAILED" });
}
