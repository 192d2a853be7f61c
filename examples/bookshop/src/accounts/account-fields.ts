import { NotFound } from "portico";
import { field, mutation, type ObjectType, object, t } from "portico/graphql";
import { roleNames } from "./roles.ts";
import { User } from "./user.ts";
import { whoMay } from "./who-may.ts";

const Role = t.enum("Role", roleNames);

/** A user's view of their own account. */
const Account: ObjectType<User> = object("Account", {
  id: t.id,
  username: t.string,
  email: t.string,
  roles: field(t.list(t.string)),
  permissions: field(t.list(t.string)),
});

export const accountQueries = {
  me: field(t.nullable(Account), { description: "Null for anonymous callers." })(({ ctx }) =>
    ctx.user.isAuthenticated ? ctx.user : null,
  ),
};

export const accountMutations = {
  grantRole: mutation(Account, {
    params: { username: t.string, role: Role },
    auth: whoMay("grant:roles"),
  })(async ({ username, role }) => {
    const user = await User.objects.get({ username });
    if (user === null) throw new NotFound(`The user ${username} does not exist`);
    await User.objects.grant(user, { roles: [role] });
    return (await User.objects.get({ username })) ?? user;
  }),
};
