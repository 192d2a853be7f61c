import { consoleMailer, type Mail } from "portico/auth";
import { settings } from "../settings.ts";

/** Sends the emails of accounts, such as a link to reset a password. Outside production they are printed. */
export async function sendMail(mail: Mail): Promise<void> {
  if (!settings.isProduction) return consoleMailer()(mail);
  throw new Error("No email was sent: call your email provider in src/accounts/send-mail.ts");
}
