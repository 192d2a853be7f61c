/** The user that the clients sign in as. */
export const ANN = { identifier: "ann", password: "correct horse battery staple" } as const;
