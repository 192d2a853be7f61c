/** The files that may use the mailer of an application, and the reason. */
const users: Readonly<Record<string, string>> = {
  "src/auth/accounts/account-options.ts": "it reads the option",
  "src/auth/accounts/mail-sender.ts": "it limits mails per recipient and per caller, and knows what a mail may contain",
  "src/cli/commands/reset-factors.ts": "an operator calls it, without a request",
};

/** The reason why a file may not use the mailer, or undefined. */
export function mailerFault(file: string): string | undefined {
  if (!file.startsWith("src/") || file in users) return undefined;
  return "the mailer is called by MailSender only, which limits mails: pass a letter to accounts.mailLater";
}
