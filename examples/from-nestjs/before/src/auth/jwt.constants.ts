export const JWT_SECRET = process.env.SECRET ?? "the secret of the tracker for development";
export const JWT_AUDIENCE = "tracker";
