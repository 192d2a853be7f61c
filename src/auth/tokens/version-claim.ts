/** The claim for the user's `credentialVersion`. The long name avoids collisions with claims of other issuers. */
export const VERSION_CLAIM = "credential_version";
