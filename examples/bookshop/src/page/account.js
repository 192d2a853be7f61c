import { graphql, post } from "./api.js";
import { byId, on } from "./dom.js";

const [dialog, form] = [byId("access"), byId("credentials")];
const { username, email, password } = form.elements;

/** The signed-in user, or null. */
export let user = null;
export const may = (permission) => user?.permissions.includes(permission) === true;
let isNew = false;

/** Finds out who is signed in. Calls `onChange` now, and after every sign-in and sign-out. */
export async function startAccount(onChange) {
  const refresh = async () => {
    user = (await graphql("query Me { me { username roles permissions } }")).me;
    showUser();
    await onChange();
  };
  on(byId("sign-in"), "click", askToSignIn);
  on(byId("cancel"), "click", () => dialog.close());
  on(byId("switch"), "click", () => setMode(!isNew));
  on(form, "submit", async () => {
    const error = await signIn().catch(({ message }) => message);
    byId("denied").textContent = error ?? "";
    if (error !== undefined) return;
    dialog.close();
    await refresh();
    byId("sign-out").focus();
  });
  on(byId("sign-out"), "click", async () => {
    await post("/account/logout");
    await refresh();
    byId("sign-in").focus();
  });
  await refresh();
}

export function askToSignIn() {
  form.reset();
  setMode(false);
  dialog.showModal();
  username.focus();
}

async function signIn() {
  const [name, secret] = [username.value, password.value];
  if (isNew) await post("/account/register", { username: name, email: email.value, password: secret });
  await post("/account/login", { identifier: name, password: secret });
}

function showUser() {
  byId("who").textContent = user === null ? "" : `${user.username} (${user.roles.join(", ")})`;
  for (const id of ["who", "sign-out"]) byId(id).hidden = user === null;
  byId("sign-in").hidden = user !== null;
}

/** The dialog registers a new user, or signs in an existing one. */
function setMode(register) {
  isNew = register;
  byId("access-heading").textContent = isNew ? "Create an account" : "Sign in";
  byId("submit").textContent = isNew ? "Register" : "Sign in";
  byId("switch").textContent = isNew ? "I have an account" : "Create an account";
  byId("denied").textContent = "";
  byId("email").hidden = !isNew;
  email.disabled = !isNew;
  password.autocomplete = isNew ? "new-password" : "current-password";
}
