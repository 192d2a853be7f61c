import { byId, has } from "../elements.ts";
import { call, leaveFor, messageOf } from "./call.ts";
import { button, day, fill } from "./entries.ts";
import { showFactors } from "./factors.ts";
import { onSubmit } from "./form.ts";
import { showNotice } from "./notice.ts";
import { destination, signIn } from "./page.ts";

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
interface Detail {
  readonly detail: string;
}

async function showAccount(): Promise<void> {
  const { username, email, email_verified } = await call<User>("GET", "/me");
  byId("who").textContent = username;
  byId("address").textContent = email + (email_verified ? "" : ", not confirmed");
  for (const id of ["send-code", "enter-code"]) if (has(id)) byId(id).hidden = email_verified;
  await Promise.all([showSessions(), showFactors(), showProviders()]);
}

async function showSessions(): Promise<void> {
  if (!has("sessions")) return;
  const sessions = await call<readonly Session[]>("GET", "/sessions");
  const entries = sessions.map(({ id, device, address, current, last_seen_at }) => {
    if (current) return [`${device}, ${address} (this device) `];
    const signOut = button("sessions", "Sign out", device, async () => {
      await call("DELETE", `/sessions/${id}`);
      await showSessions();
      return "The device was signed out.";
    });
    return [`${device}, ${address}, last used ${day(last_seen_at)} `, signOut];
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
  return button("providers", "Unlink", title, async () => {
    await call("DELETE", `/providers/${name}`);
    await showProviders();
    return `${title} was unlinked.`;
  });
}

function linkButton(name: string, title: string): HTMLElement {
  return button("providers", "Link", title, async () => {
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
  return "Your password was changed. All other devices were signed out.";
});

onSubmit("send-code", async () => (await call<Detail>("POST", "/verify/request", {})).detail);

onSubmit("enter-code", async ({ code }) => {
  await call("POST", "/verify", { code });
  await showAccount();
  byId("address").tabIndex = -1;
  byId("address").focus();
});

onSubmit("change-email", async ({ email }) => (await call<Detail>("POST", "/email", { email })).detail);

if (has("who"))
  showAccount().catch((error: unknown) => {
    if (!leaveFor(error)) showNotice(messageOf(error));
  });
