import { byId, has } from "../elements.ts";
import { call, leaveFor, messageOf } from "./call.ts";
import type { Factors } from "./factors.ts";
import { onSubmit } from "./form.ts";
import { showNotice } from "./notice.ts";
import { destination, query } from "./page.ts";
import { type PasskeyRequest, usePasskey } from "./passkeys.ts";
import { fillText, texts } from "./texts.ts";

// The page where a signed-in user proves a second factor or signs in again.

interface User {
  readonly username: string;
  readonly email: string;
}

let user: User | null = null;
const enter = (): void => location.assign(destination());

async function showForms(): Promise<void> {
  user = await call<User>("GET", "/me");
  byId("who").textContent = fillText(texts.signedInAs, { name: user.username });
  const factors = has("step-up-code") ? await call<Factors>("GET", "/factors") : null;
  const hasApp = (factors?.totp_created_at ?? null) !== null;
  const hasPasskey = (factors?.passkeys ?? 0) > 0;
  const hasFactor = hasApp || hasPasskey;
  // A second factor proves more than the password, which would ask for it anyway.
  const shown = {
    "step-up-code": hasFactor && (hasApp || (factors?.recovery_codes ?? 0) > 0),
    "step-up-passkey": hasPasskey,
    "step-up-password": !hasFactor && query.get("error") !== "second_factor_required",
    "no-factor": !hasFactor && query.get("error") === "second_factor_required",
  };
  for (const [id, isShown] of Object.entries(shown)) if (has(id)) byId(id).hidden = !isShown;
  if (document.activeElement === document.body)
    document.querySelector<HTMLElement>("form:not([hidden]) input")?.focus();
}

onSubmit("step-up-code", async ({ code }) => {
  await call("POST", "/second-factor", { code });
  enter();
});

onSubmit("step-up-passkey", async () => {
  const { options } = await call<PasskeyRequest>("POST", "/second-factor/options", {});
  await call("POST", "/second-factor", { credential: await usePasskey(options) });
  enter();
});

onSubmit("step-up-password", async ({ password }) => {
  await call("POST", "/login", { identifier: user?.email, password });
  enter();
});

if (has("no-factor"))
  showForms().catch((error: unknown) => {
    if (!leaveFor(error)) showNotice(messageOf(error));
  });
