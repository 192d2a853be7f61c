/** Asks for a password that the account routes would accept. */
export async function newPassword(askPassword: () => Promise<string>, names: readonly string[]): Promise<string> {
  const password = await askPassword();
  const { refuseWeakPassword } = await import("../../auth/passwords/refuse-weak-password.ts");
  await refuseWeakPassword(password, names);
  return password;
}
