import { byId, has } from "../elements.ts";
import { call, leaveFor, messageOf } from "./call.ts";
import { button, described, fill } from "./entries.ts";
import { showFactors } from "./factors.ts";
import { onSubmit } from "./form.ts";
import { showNotice } from "./notice.ts";
import { destination, signIn } from "./page.ts";
import { day, fillText, texts } from "./texts.ts";

// The account page: the user, devices, password, email address and linked providers.

interface User {
  readonly username: string;
  readonly email: string;
  readonly email_verified: boolean;
}
interface Session {
  readonly id: string;
  readonly device: string;
  readonly address: string;
  readonly current: boolean;
  readonly last_seen_at: string;
}

async function showAccount(): Promise<void> {
  const { username, email, email_verified } = await call<User>("GET", "/me");
  byId("who").textContent = username;
  byId("address").textContent = email + (email_verified ? "" : `, ${texts.notConfirmed}`);
  for (const id of ["send-code", "enter-code"]) if (has(id)) byId(id).hidden = email_verified;
  await Promise.all([showSessions(), showFactors(), showProviders()]);
}

async function showSessions(): Promise<void> {
  if (!has("sessions")) return;
  const sessions = await call<readonly Session[]>("GET", "/sessions");
  const entries = sessions.map(({ id, device, address, current, last_seen_at }) => {
    if (current) return [described(device, texts.thisDevice, address)];
    const signOut = button("sessions", texts.signOut, device, async () => {
      await call("DELETE", `/sessions/${id}`);
      await showSessions();
      return texts.deviceSignedOut;
    });
    return [described(device, fillText(texts.lastUsed, { date: day(last_seen_at) }), address), signOut];
  });
  fill("sessions-list", entries);
}

async function showProviders(): Promise<void> {
  if (!has("providers")) return;
  const links = await call<readonly { readonly provider: string }[]>("GET", "/providers/linked");
  const linked = links.map(({ provider }) => provider);
  for (const item of document.querySelectorAll<HTMLElement>("[data-provider-link]")) {
    const { providerLink: name = "" } = item.dataset;
    const title = item.firstChild?.textContent?.trim() ?? name;
    item.replaceChildren(`${title} `, linked.includes(name) ? unlinkButton(name, title) : linkButton(name, title));
  }
}

function unlinkButton(name: string, title: string): HTMLElement {
  return button("providers", texts.unlink, title, async () => {
    await call("DELETE", `/providers/${name}`);
    await showProviders();
    return fillText(texts.unlinked, { provider: title });
  });
}

function linkButton(name: string, title: string): HTMLElement {
  return button("providers", texts.link, title, async () => {
    const { url } = await call<{ url: string }>("POST", `/providers/${name}/link`, { return_to: destination() });
    location.assign(url);
  });
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
  return texts.passwordChanged;
});

onSubmit("send-code", async () => {
  await call("POST", "/verify/request", {});
  return texts.mailSent;
});

onSubmit("enter-code", async ({ code }) => {
  await call("POST", "/verify", { code });
  await showAccount();
  byId("address").tabIndex = -1;
  byId("address").focus();
});

onSubmit("change-email", async ({ email }) => {
  await call("POST", "/email", { email });
  return texts.mailSent;
});

if (has("address"))
  showAccount().catch((error: unknown) => {
    if (!leaveFor(error)) showNotice(messageOf(error));
  });
