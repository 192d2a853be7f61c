import type { Register } from "../../http/identity/identity.ts";

/** The registered user where it is built on this class, else this class: static members do not know the class they are called on. */
export type RegisteredAs<Base> = Register extends { user: infer U } ? (U extends Base ? U : Base) : Base;
