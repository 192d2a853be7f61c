import {
  IdentityProvider,
  type ProviderAccount,
  type SignInSecrets,
} from "../../src/auth/providers/identity-provider.ts";

/** A provider in the same process: the code of its callback is the `sub` of the person. */
export class FakeProvider extends IdentityProvider {
  constructor(name: string) {
    super(name, { signUp: true, linkVerifiedEmail: false, domains: [], domainsOnly: false });
  }

  async authorizationUrl(_services: unknown, { state }: SignInSecrets): Promise<URL> {
    return new URL(`https://provider.example/?state=${state}`);
  }

  async accountOf(_services: unknown, callback: URL): Promise<ProviderAccount> {
    const subject = callback.searchParams.get("code") ?? "";
    const email = `${subject}@provider.example`;
    return { issuer: "https://provider.example", subject, email, isEmailVerified: true, sid: undefined };
  }

  logoutNotice(): Promise<never> {
    return Promise.reject(new Error("it signs no one out"));
  }
}
