/** The password behind each of the hashes below. They were made by other programs: Python's hashlib, libxcrypt, OpenSSL. */
export const PASSWORD: string = "korrekt Pferd 42";

const SALT = "c2FsdHNhbHRzYWx0c2FsdA";
const BCRYPT = "abcdefghijklmnopqrstuu";

/** argon2 as it is verified by every hasher: what, its text, and whether it is to be hashed anew. */
export const ARGON2: readonly (readonly [name: string, hash: string, needsRehash: boolean])[] = [
  ["at the cost of now", `$argon2id$v=19$m=19456,t=2,p=1$${SALT}$oUeeF1uN4TTg6rPrgb8K6sQmfsZWxNTNMvq4peVC2yA`, false],
  ["at a higher cost", `$argon2id$v=19$m=19456,t=3,p=1$${SALT}$VyxELvu5TKN8iZQn50tNEzXGblS589oaQMUzL8qzgL8`, false],
  ["at a lower cost", `$argon2id$v=19$m=8,t=1,p=1$${SALT}$3mOT5BPjA2NOtir0jb7mvI8N54MLZwCRfL/9V7lPHm8`, true],
  ["on eight lanes", `$argon2id$v=19$m=1024,t=2,p=8$${SALT}$kx5P0eIdqtyPhAKyucP/z0syc+RcxadSAjFPoptR2W0`, true],
  ["argon2i", `$argon2i$v=19$m=64,t=2,p=1$${SALT}$GS+MYCyvwc0wKh+TYHEkJacTceodLot+yLpftCwlC/Y`, true],
  ["argon2d", `$argon2d$v=19$m=64,t=2,p=1$${SALT}$6ZlG93+xNzm0HryWHTy9Qi6y6hYi9/XUWWNO0i3EcWo`, true],
  [
    "in Django's form",
    `argon2$argon2id$v=19$m=19456,t=2,p=1$${SALT}$oUeeF1uN4TTg6rPrgb8K6sQmfsZWxNTNMvq4peVC2yA`,
    true,
  ],
];

export const BCRYPT_HASHES: readonly (readonly [name: string, hash: string])[] = [
  ["$2a$", `$2a$04$${BCRYPT}6Quj2zWn0VGnT8OCvFECqUNQozUh6Iq`],
  ["$2b$", `$2b$04$${BCRYPT}6Quj2zWn0VGnT8OCvFECqUNQozUh6Iq`],
  ["$2y$", `$2y$05$${BCRYPT}xwZ49RwuvU.a4bOtAEvSKG8soCGgBDS`],
  ["Django's bcrypt", `bcrypt$$2b$04$${BCRYPT}6Quj2zWn0VGnT8OCvFECqUNQozUh6Iq`],
  ["Django's bcrypt_sha256", `bcrypt_sha256$$2b$04$${BCRYPT}9PLJbnzKlAVc7nKsTIPJigkklzBOqwu`],
];

/** Of 72 characters: "72" written 36 times. */
export const BCRYPT_72: string = `$2b$04$${BCRYPT}c5Sb5tMeYgSWat2YcIpLPHVUFDi9Z7W`;

export const SCRYPT_HASHES: readonly (readonly [name: string, hash: string])[] = [
  ["PHC", `$scrypt$ln=10,r=8,p=1$${SALT}$VNSEwL/cGPs5suG1JmpIwhkI6jntBE2uBSLw1Sa+Bqs`],
  [
    "PHC with the cost itself",
    `$scrypt$n=1024,r=8,p=1$${SALT}$VNSEwL/cGPs5suG1JmpIwhkI6jntBE2uBSLw1Sa+BqtRPkJ5b82WxT2luGK0Ct2/cBBSoFNitHIxswTNEqPrtg`,
  ],
  [
    "Django's",
    "scrypt$1024$seasalt$8$5$jCD4SQmXVnuEMuv+V+t2L5mPLlGViryPebC2+8VOwdwxYIwAMJM4kNR0WZqqQ0yvIMbsalPrQgmrr56sfson+A==",
  ],
  [
    "Werkzeug's",
    "scrypt:1024:8:1$seasalt$a649754d6f5e8e4e65bb60541f16415480489282f0c7c761bae828c8fd291564634d5e06fc10db496e86f5c17b36d250809d77ea414a7febee969744322069c1",
  ],
  [
    "better-auth's",
    "00112233445566778899aabbccddeeff:b57aa8dbef1de13a4b16626289eccb7138cfcb98efb6d4a459530201d2ce23957b7507464e387d3a3eadd72da38cdf56509b50317e5ab40118472bd56eaf2b01",
  ],
];

export const PBKDF2_HASHES: readonly (readonly [name: string, hash: string])[] = [
  ["Django's sha256", "pbkdf2_sha256$1000$seasalt$344+c2sEgNh/XLuRUluKfcBQb90OvJJYW05XUrx8zOE="],
  ["Django's sha1", "pbkdf2_sha1$1000$seasalt$dpFP/z4+c2BSUz448/1XGEywOIc="],
  ["Werkzeug's", "pbkdf2:sha256:1000$seasalt$df8e3e736b0480d87f5cbb91525b8a7dc0506fdd0ebc92585b4e5752bc7ccce1"],
];
