import { byId, has } from "../elements.ts";
import { call } from "./call.ts";
import { button, described, fill } from "./entries.ts";
import { onSubmit } from "./form.ts";
import { newPasskey } from "./passkeys.ts";
import { day, fillText, texts } from "./texts.ts";

/** The second factors of the user. */
export interface Factors {
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
    (added === null ? texts.notSetUp : fillText(texts.setUpOn, { date: day(added) })) +
    (hasNone ? "" : ` ${fillText(texts.codesLeft, { count: left })}`);
  byId("totp-begin").hidden = added !== null;
  byId("totp-remove").hidden = added === null;
  byId("recovery-renew").hidden = hasNone;
  if (has("passkeys")) await showPasskeys();
}

async function showPasskeys(): Promise<void> {
  const passkeys = await call<readonly Passkey[]>("GET", "/passkeys");
  const entries = passkeys.map(({ id, name, created_at }) => [
    described(name, fillText(texts.addedOn, { date: day(created_at) })),
    button("passkeys", texts.rename, name, async () => {
      const renamed = prompt(texts.newName, name);
      if (renamed === null) return;
      await call("PATCH", `/passkeys/${id}`, { name: renamed });
      await showFactors();
      return texts.renamed;
    }),
    button("passkeys", texts.remove, name, async () => {
      await call("DELETE", `/passkeys/${id}`);
      await showFactors();
      return texts.removed;
    }),
  ]);
  fill("passkeys-list", entries);
  byId("passkeys-none").hidden = passkeys.length > 0;
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
  return texts.passkeyAdded;
});
