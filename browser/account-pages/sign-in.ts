import { byId, has } from "../elements.ts";
import { call } from "./call.ts";
import { onSubmit } from "./form.ts";
import { destination, fragment, token } from "./page.ts";
import { type PasskeyRequest, usePasskey } from "./passkeys.ts";
import { texts } from "./texts.ts";

// Sign-in, registration and the pages that emails link to.

const pending = fragment.get("pending") ?? undefined;
const enter = (): void => location.assign(destination());
const isOn = (value: string | undefined): boolean => value === "on";
const isRemembered = (): boolean => has("login-remember") && byId<HTMLInputElement>("login-remember").checked;

for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-provider]")) {
  link.addEventListener("click", () => {
    const details = new URLSearchParams({ return_to: destination() });
    if (isRemembered()) details.set("remember", "true");
    link.search = String(details);
  });
}

onSubmit("login", async ({ identifier, password, remember }) => {
  await call("POST", "/login", { identifier, password, remember: isOn(remember) });
  enter();
});

onSubmit("passkey-sign-in", async () => {
  const { options } = await call<PasskeyRequest>("POST", "/passkeys/sign-in/options");
  const credential = await usePasskey(options);
  await call("POST", "/passkeys/sign-in", { credential, remember: isRemembered() });
  enter();
});

onSubmit("sign-in-mail", async ({ email, remember }) => {
  await call("POST", "/sign-in-mail", { email, remember: isOn(remember) });
  byId("sign-in-code").hidden = false;
  byId("sign-in-code-code").focus();
  return texts.mailSent;
});

onSubmit("sign-in-code", async ({ code }) => {
  await call("POST", "/sign-in-mail/confirm", { code });
  enter();
});

onSubmit("sign-in-link", async () => {
  await call("POST", "/sign-in-mail/confirm", { token });
  enter();
});

const methods = fragment.get("methods");
if (methods !== null && !methods.includes("passkey") && has("second-passkey")) byId("second-passkey").hidden = true;

onSubmit("second-factor", async ({ code }) => {
  await call("POST", "/second-factor", { pending, code });
  enter();
});

onSubmit("second-passkey", async () => {
  const { options } = await call<PasskeyRequest>("POST", "/second-factor/options", { pending });
  await call("POST", "/second-factor", { pending, credential: await usePasskey(options) });
  enter();
});

onSubmit("register", async ({ email, username, password }) => {
  await call("POST", "/register", { email, username, password });
  return texts.registered;
});

onSubmit("reset-request", async ({ email }) => {
  await call("POST", "/password/reset", { email });
  return texts.mailSent;
});

onSubmit("reset", async ({ password }) => {
  await call("POST", "/password/reset/confirm", { token, password });
  return texts.passwordSet;
});

onSubmit("verify-request", async ({ email }) => {
  await call("POST", "/verify/request", { email });
  return texts.mailSent;
});

onSubmit("verify", async ({ password }) => {
  await call("POST", "/verify", { token, password });
  return texts.emailConfirmed;
});

onSubmit("email-confirm", async () => {
  await call("POST", "/email/confirm", { token });
  return texts.emailChanged;
});
