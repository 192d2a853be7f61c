import type { Register } from "../../kernel/identity/identity.ts";

/**
 * The registered user class if it extends this class, else this class. A static member cannot refer to the class it is
 * called on.
 */
export type RegisteredAs<Base> = Register extends { user: infer U } ? (U extends Base ? U : Base) : Base;
