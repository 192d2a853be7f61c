import type * as OpenID from "openid-client";
import { isInstance } from "../../core/describe-error.ts";
import { HttpException, ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import type { ProviderServices } from "./identity-provider.ts";

/** The package `openid-client`, which is loaded on the first sign-in with a provider. */
export function openIDClient(): Promise<typeof OpenID> {
  return import("openid-client");
}

/** The largest response that is read. Metadata, keys and tokens have a few kilobytes. */
const MAX_BYTES = 1_048_576;

/** The provider did not respond in time, or its response is an outage or too large. */
class ProviderOutage extends Error {
  override readonly name: string = "ProviderOutage";
}

/** Sends a request to a provider. Every failure of the transport is a `ProviderOutage`. */
export const providerFetch: OpenID.CustomFetch = async (url, options) => {
  try {
    const response = await fetch(url, options as RequestInit);
    if (response.status >= 500) throw new ProviderOutage(`the response has status ${response.status}`);
    const body = await readAtMost(response.body, MAX_BYTES);
    return new Response(body.length === 0 ? null : body, { status: response.status, headers: response.headers });
  } catch (error) {
    if (isInstance(error, ProviderOutage)) throw error;
    throw new ProviderOutage(reasonOf(error), { cause: error });
  }
};

async function readAtMost(body: ReadableStream<Uint8Array> | null, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    // Leaving the loop cancels the stream and closes the connection.
    if (length > most) throw new ProviderOutage(`the response is larger than ${most} bytes`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** Runs a step of a sign-in. An outage becomes 503, and an invalid response of the provider 400. */
export async function reachProvider<T>(
  { log }: ProviderServices,
  provider: string,
  step: () => Promise<T>,
  isOutageExpected = false,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (isInstance(error, HttpException)) throw error;
    const reasons = chainOf(error);
    // The error may quote tokens, so only messages and codes are logged.
    log.warn({ provider, reasons: reasons.map(reasonOf) }, "the identity provider failed");
    if (isOutageExpected || reasons.some((reason) => isInstance(reason, ProviderOutage)))
      throw new ServiceUnavailable("The identity provider is unavailable. Try again later.", {
        code: "PROVIDER_UNAVAILABLE",
        retryAfterSeconds: 5,
      });
    if (reasons.some((reason) => reason.name === "AuthorizationResponseError"))
      throw new HttpException(403, "The identity provider did not sign you in", { code: "PROVIDER_DENIED" });
    throw new ProviderSignInFailed();
  }
}

/** 400: the response of a provider is not valid, so no user is signed in. */
export class ProviderSignInFailed extends HttpException {
  override readonly name: string = "ProviderSignInFailed";

  constructor() {
    super(400, "The response of the identity provider is not valid. Sign in again.", {
      code: "PROVIDER_SIGN_IN_FAILED",
    });
  }
}

/** The error and its causes. */
function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let reason = error; isInstance(reason, Error) && chain.length < 5; reason = reason.cause) chain.push(reason);
  return chain;
}

function reasonOf(error: unknown): string {
  if (!isInstance(error, Error)) return typeof error;
  const { code } = error as Error & { readonly code?: unknown };
  return typeof code === "string" ? `${error.message} (${code})` : error.message;
}
