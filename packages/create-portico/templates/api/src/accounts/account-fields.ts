import { field, t } from "portico/graphql";

export const accountQueries = {
  me: field(t.string, { auth: true, description: "The name of the signed-in user." })(
    ({ ctx }) => ctx.user.displayName,
  ),
};
