/** The account page: devices, password, second factors and linked providers. */
export const ACCOUNT_SCRIPT: string = String.raw`
const day = (date) => new Intl.DateTimeFormat("en", { dateStyle: "medium" }).format(new Date(date));

/** A button for one entry of a list. Its label names the entry, because all of them show the same text. */
function button(section, text, entry, act) {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.setAttribute("aria-label", text + " " + entry);
  element.addEventListener("click", () => void attempt(section, act));
  return element;
}

function fill(id, entries) {
  byId(id)?.replaceChildren(...entries.map((parts) => {
    const item = document.createElement("li");
    item.append(...parts);
    return item;
  }));
}

function showCodes({ recovery_codes: codes }) {
  if (codes === undefined) return;
  fill("recovery-list", codes.map((code) => [code]));
  byId("recovery").hidden = false;
  byId("recovery-title").focus();
}

async function showSessions() {
  if (byId("sessions") === null) return;
  fill("sessions-list", (await call("GET", "/sessions")).map(({ id, device, address, current, last_seen_at }) => [
    device + ", " + address + (current ? " (this device) " : ", last used " + day(last_seen_at) + " "),
    ...(current ? [] : [button("sessions", "Sign out", device, async () => {
      await call("DELETE", "/sessions/" + id);
      await showSessions();
      return "The device was signed out.";
    })]),
  ]));
}

async function showFactors() {
  if (byId("totp") === null) return;
  const { totp_created_at: added, recovery_codes: left, passkeys } = await call("GET", "/factors");
  byId("totp-state").textContent = (added === null ? "Not set up." : "Set up on " + day(added) + ".")
    + (added === null && passkeys === 0 ? "" : " Unused recovery codes: " + left + ".");
  byId("totp-begin").hidden = added !== null;
  byId("totp-remove").hidden = added === null;
  byId("recovery-renew").hidden = added === null && passkeys === 0;
  if (byId("passkeys") !== null) await showPasskeys();
}

async function showPasskeys() {
  fill("passkeys-list", (await call("GET", "/passkeys")).map(({ id, name, created_at }) => [
    name + ", added on " + day(created_at) + " ",
    button("passkeys", "Rename", name, async () => {
      const renamed = prompt("New name of the passkey", name);
      if (renamed === null) return;
      await call("PATCH", "/passkeys/" + id, { name: renamed });
      await showFactors();
      return "The passkey was renamed.";
    }),
    " ",
    button("passkeys", "Remove", name, async () => {
      await call("DELETE", "/passkeys/" + id);
      await showFactors();
      return "The passkey was removed.";
    }),
  ]));
}

async function showProviders() {
  if (byId("providers") === null) return;
  const linked = (await call("GET", "/providers/linked")).map(({ provider }) => provider);
  for (const item of document.querySelectorAll("[data-provider-link]")) {
    const path = "/providers/" + item.dataset.providerLink;
    const title = item.firstChild.textContent.trim();
    item.replaceChildren(title + " ", linked.includes(item.dataset.providerLink)
      ? button("providers", "Unlink", title, async () => {
          await call("DELETE", path);
          await showProviders();
          return title + " was unlinked.";
        })
      : button("providers", "Link", title, async () => {
          location.assign((await call("POST", path + "/link", { return_to: destination() })).url);
        }));
  }
}

async function showAccount() {
  const { username, email, email_verified } = await call("GET", "/me");
  byId("who").textContent = username;
  byId("address").textContent = email + (email_verified ? "" : ", not confirmed");
  await Promise.all([showSessions(), showFactors(), showProviders()]);
}

onSubmit("logout", async () => {
  await call("POST", "/logout", {});
  location.assign(signIn);
});

onSubmit("everywhere", async () => {
  await call("POST", "/logout/everywhere");
  location.assign(signIn);
});

onSubmit("change-password", async (passwords) => {
  await call("POST", "/password", passwords);
  await showSessions();
  return "Your password was changed. All other devices were signed out.";
});

onSubmit("change-email", async ({ email }) => (await call("POST", "/email", { email })).detail);

onSubmit("totp-begin", async () => {
  const { secret, qr } = await call("POST", "/factors/totp", {});
  byId("totp-qr").src = "data:image/svg+xml," + encodeURIComponent(qr);
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
  const { options } = await call("POST", "/passkeys/options", {});
  const made = await call("POST", "/passkeys", { name, credential: await newPasskey(options) });
  showCodes(made);
  await showFactors();
  return "The passkey was added.";
});

if (byId("who") !== null) showAccount().catch((error) => {
  if (leaveFor(error)) return;
  byId("notice").textContent = messageOf(error);
  byId("notice").focus();
});
`;
