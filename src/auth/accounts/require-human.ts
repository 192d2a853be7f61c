import { within } from "../../core/within.ts";
import type { HttpContext } from "../../http/context/http-context.ts";
import type { PorticoRequest } from "../../http/context/portico-request.ts";
import { HttpException, ServiceUnavailable } from "../../http/exceptions/http-exception.ts";
import type { Accounts } from "./accounts.ts";

/** Returns whether a person sent the request, for example by asking a CAPTCHA service about a token in a header. */
export type HumanCheck = (request: PorticoRequest) => Promise<boolean>;

/** A check that takes longer has failed. */
const PATIENCE_MS = 5_000;

const ask = async (isHuman: HumanCheck, request: PorticoRequest): Promise<unknown> => isHuman(request);

/** Throws 403 for a program, before any password is checked and before the attempt counts for the account. */
export async function requireHuman(ctx: HttpContext, { options }: Accounts): Promise<void> {
  const { isHuman } = options;
  if (isHuman === undefined) return;
  const answer = await within(PATIENCE_MS, ask(isHuman, ctx.request)).catch((err: unknown) => {
    ctx.log.error({ err }, "isHuman failed");
    throw new ServiceUnavailable("The request could not be checked for a person. Try again later.", {
      retryAfterSeconds: 5,
    });
  });
  if (answer !== true)
    throw new HttpException(403, "Confirm that you are a person, then try again.", { code: "HUMAN_CHECK_FAILED" });
}
