/** The claim for the user's `credentialVersion`. Written out: a short name may be another issuer's word for something else. */
export const VERSION_CLAIM = "credential_version";
