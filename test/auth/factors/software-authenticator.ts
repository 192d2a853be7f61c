import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";

/** Whatever a test makes different from what a correct authenticator and browser would send. */
export interface Deviation {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  readonly isUserVerified?: boolean;
  readonly isBackedUp?: boolean;
  readonly userHandle?: string | null;
  /** The counter that the authenticator reports. */
  readonly counter?: number;
}

interface CreationOptions {
  readonly challenge: string;
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
}

interface RequestOptions {
  readonly challenge: string;
  readonly rpId: string;
}

/** A passkey without a browser: it answers the options of the server as a browser with an authenticator would. */
export class SoftwareAuthenticator {
  readonly id: string = randomBytes(16).toString("base64url");
  readonly #key: KeyObject;
  readonly #point: { readonly x: string; readonly y: string };
  readonly #isSyncable: boolean;
  #userHandle = "";

  constructor({ isSyncable = false }: { readonly isSyncable?: boolean } = {}) {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    this.#key = privateKey;
    this.#point = { x, y };
    this.#isSyncable = isSyncable;
  }

  /** The response to the options for a new passkey. */
  create(options: unknown, deviation: Deviation = {}): object {
    const { challenge, rp, user } = options as CreationOptions;
    this.#userHandle = user.id;
    const { x, y } = this.#point;
    // A COSE key: EC2, ES256, P-256 and the two coordinates.
    const key = Buffer.concat([
      Buffer.from("a5010203262001215820", "hex"),
      Buffer.from(x, "base64url"),
      Buffer.from("225820", "hex"),
      Buffer.from(y, "base64url"),
    ]);
    const id = Buffer.from(this.id, "base64url");
    const data = Buffer.concat([
      this.#data(rp.id, 0x40, deviation),
      Buffer.alloc(16),
      Buffer.from([0, id.length]),
      id,
      key,
    ]);
    // CBOR: { fmt: "none", attStmt: {}, authData: data }.
    const attestation = Buffer.concat([
      Buffer.from("a363666d74646e6f6e656761747453746d74a068617574684461746158", "hex"),
      Buffer.from([data.length]),
      data,
    ]);
    return this.#credential({
      clientDataJSON: clientData("webauthn.create", challenge, deviation).toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal", "hybrid"],
    });
  }

  /** The response to the options for a sign-in. */
  get(options: unknown, deviation: Deviation = {}): object {
    const { challenge, rpId } = options as RequestOptions;
    const data = this.#data(rpId, 0, deviation);
    const client = clientData("webauthn.get", challenge, deviation);
    const signed = createSign("sha256").update(data).update(createHash("sha256").update(client).digest());
    const { userHandle = this.#userHandle } = deviation;
    return this.#credential({
      clientDataJSON: client.toString("base64url"),
      authenticatorData: data.toString("base64url"),
      signature: signed.sign(this.#key).toString("base64url"),
      ...(userHandle === null ? {} : { userHandle }),
    });
  }

  #credential(response: object): object {
    return { id: this.id, rawId: this.id, type: "public-key", clientExtensionResults: {}, response };
  }

  #data(rpId: string, more: number, deviation: Deviation): Buffer {
    const { isUserVerified = true, isBackedUp = false, counter = 0 } = deviation;
    const flags = 0x01 | (isUserVerified ? 0x04 : 0) | (this.#isSyncable ? 0x08 : 0) | (isBackedUp ? 0x10 : 0) | more;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const domain = createHash("sha256")
      .update(deviation.rpId ?? rpId)
      .digest();
    return Buffer.concat([domain, Buffer.from([flags]), count]);
  }
}

function clientData(type: string, challenge: string, deviation: Deviation): Buffer {
  const { origin = "https://shop.example" } = deviation;
  return Buffer.from(JSON.stringify({ type, challenge: deviation.challenge ?? challenge, origin, crossOrigin: false }));
}
