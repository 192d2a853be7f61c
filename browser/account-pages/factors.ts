import { byId, has } from "../elements.ts";
import { call } from "./call.ts";
import { button, day, fill } from "./entries.ts";
import { onSubmit } from "./form.ts";
import { newPasskey } from "./passkeys.ts";

interface Factors {
  readonly totp_created_at: string | null;
  readonly recovery_codes: number;
  readonly passkeys: number;
}
interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
}
/** The codes are shown once, when they are made. */
interface RecoveryCodes {
  readonly recovery_codes?: readonly string[];
}

/** Shows the authenticator app and the passkeys of the user, if the page has them. */
export async function showFactors(): Promise<void> {
  if (!has("totp")) return;
  const { totp_created_at: added, recovery_codes: left, passkeys } = await call<Factors>("GET", "/factors");
  const hasNone = added === null && passkeys === 0;
  byId("totp-state").textContent =
    (added === null ? "Not set up." : `Set up on ${day(added)}.`) + (hasNone ? "" : ` Unused recovery codes: ${left}.`);
  byId("totp-begin").hidden = added !== null;
  byId("totp-remove").hidden = added === null;
  byId("recovery-renew").hidden = hasNone;
  if (has("passkeys")) await showPasskeys();
}

async function showPasskeys(): Promise<void> {
  const passkeys = await call<readonly Passkey[]>("GET", "/passkeys");
  const entries = passkeys.map(({ id, name, created_at }) => [
    `${name}, added on ${day(created_at)} `,
    button("passkeys", "Rename", name, async () => {
      const renamed = prompt("New name of the passkey", name);
      if (renamed === null) return;
      await call("PATCH", `/passkeys/${id}`, { name: renamed });
      await showFactors();
      return "The passkey was renamed.";
    }),
    " ",
    button("passkeys", "Remove", name, async () => {
      await call("DELETE", `/passkeys/${id}`);
      await showFactors();
      return "The passkey was removed.";
    }),
  ]);
  fill("passkeys-list", entries);
}

function showCodes({ recovery_codes: codes }: RecoveryCodes): void {
  if (codes === undefined) return;
  fill(
    "recovery-list",
    codes.map((code) => [code]),
  );
  byId("recovery").hidden = false;
  byId("recovery-title").focus();
}

onSubmit("totp-begin", async () => {
  const { secret, qr } = await call<{ secret: string; qr: string }>("POST", "/factors/totp", {});
  byId<HTMLImageElement>("totp-qr").src = `data:image/svg+xml,${encodeURIComponent(qr)}`;
  byId("totp-key").textContent = secret;
  byId("totp-begin").hidden = true;
  byId("totp-secret").hidden = byId("totp-confirm").hidden = false;
  byId("totp-confirm-code").focus();
});

onSubmit("totp-confirm", async ({ code }) => {
  showCodes(await call("POST", "/factors/totp/confirm", { code }));
  byId("totp-secret").hidden = byId("totp-confirm").hidden = true;
  await showFactors();
});

onSubmit("totp-remove", async () => {
  await call("DELETE", "/factors/totp");
  await showFactors();
  byId("totp-title").focus();
});

onSubmit("recovery-renew", async () => {
  showCodes(await call("POST", "/factors/recovery-codes"));
  await showFactors();
});

onSubmit("add-passkey", async ({ name }) => {
  const { options } = await call<{ options: PublicKeyCredentialCreationOptionsJSON }>("POST", "/passkeys/options", {});
  showCodes(await call("POST", "/passkeys", { name, credential: await newPasskey(options) }));
  await showFactors();
  return "The passkey was added.";
});
