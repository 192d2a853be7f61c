/** The response of a route that begins a proof with a passkey. */
export interface PasskeyRequest {
  readonly options: PublicKeyCredentialRequestOptionsJSON;
}

/** Makes a passkey. The authenticator asks the user. */
export async function newPasskey(options: PublicKeyCredentialCreationOptionsJSON): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return toJson(await navigator.credentials.create({ publicKey }));
}

/** Signs with a passkey that the user chooses. */
export async function usePasskey(options: PublicKeyCredentialRequestOptionsJSON): Promise<object> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return toJson(await navigator.credentials.get({ publicKey }));
}

function toJson(credential: Credential | null): object {
  return (credential as PublicKeyCredential).toJSON();
}
