/** Removes passwords in URLs, and the values of environment variables that hold secrets. */
export function redact(text: string, env: Readonly<Record<string, string | undefined>>): string {
  const secrets = Object.entries(env).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) && value.length >= LEAST_LENGTH ? [value] : [],
  );
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text.replace(CREDENTIALS, "$1***@"));
}

const SECRET_NAME = /SECRET|PASSWORD|TOKEN|KEY/i;
/** A shorter value may be an ordinary word. */
const LEAST_LENGTH = 8;
const CREDENTIALS = /(:\/\/)[^\s/@]*@/g;
