/** The JSON Schema of an object with these members. Those whose names end with a question mark are optional. */
function objectOf(members: Readonly<Record<string, object>>): object {
  const entries = Object.entries(members);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace("?", ""), schema])),
    required: entries.map(([name]) => name).filter((name) => !name.endsWith("?")),
  };
}

const text = { type: "string" };
const integer = { type: "integer" };
const oneOf = (...values: readonly string[]): object => ({ type: "string", enum: values });
const listOf = (items: object): object => ({ type: "array", items });
const publicKey = oneOf("public-key");
const preference = oneOf("required", "preferred", "discouraged");
const attachment = oneOf("platform", "cross-platform");
const anything = { type: "object" };
const descriptor = objectOf({ id: text, type: publicKey, "transports?": listOf(text) });

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn, as the browser takes it. */
const creation = objectOf({
  rp: objectOf({ name: text, "id?": text }),
  user: objectOf({ id: text, name: text, displayName: text }),
  challenge: text,
  pubKeyCredParams: listOf(objectOf({ alg: integer, type: publicKey })),
  "timeout?": integer,
  "excludeCredentials?": listOf(descriptor),
  "authenticatorSelection?": objectOf({
    "authenticatorAttachment?": attachment,
    "requireResidentKey?": { type: "boolean" },
    "residentKey?": preference,
    "userVerification?": preference,
  }),
  "hints?": listOf(text),
  "attestation?": oneOf("none", "indirect", "direct", "enterprise"),
  "extensions?": anything,
});

/** `PublicKeyCredentialRequestOptionsJSON`. */
const request = objectOf({
  challenge: text,
  "timeout?": integer,
  "rpId?": text,
  "allowCredentials?": listOf(descriptor),
  "userVerification?": preference,
  "hints?": listOf(text),
  "extensions?": anything,
});

/** `RegistrationResponseJSON`, which the browser returns for a new passkey. */
const registration = objectOf({
  id: text,
  rawId: text,
  response: objectOf({
    clientDataJSON: text,
    attestationObject: text,
    "authenticatorData?": text,
    "transports?": listOf(text),
    "publicKeyAlgorithm?": integer,
    "publicKey?": text,
  }),
  "authenticatorAttachment?": attachment,
  clientExtensionResults: anything,
  type: publicKey,
});

/** `AuthenticationResponseJSON`, which the browser returns for a passkey that is used. */
const assertion = objectOf({
  id: text,
  rawId: text,
  response: objectOf({ clientDataJSON: text, authenticatorData: text, signature: text, "userHandle?": text }),
  "authenticatorAttachment?": attachment,
  clientExtensionResults: anything,
  type: publicKey,
});

/** The JSON Schemas of WebAuthn, by their kind in `record-schema.ts`. */
export const webauthnSchemas: Readonly<Record<"creation" | "request" | "registration" | "assertion", object>> = {
  creation,
  request,
  registration,
  assertion,
};
