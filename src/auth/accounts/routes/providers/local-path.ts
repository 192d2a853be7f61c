/** Visible ASCII without a backslash, which browsers read as a slash. A second slash would begin a host. */
export const LOCAL_PATH: RegExp = /^\/(?!\/)[\x21-\x5b\x5d-\x7e]{0,2047}$/;
