import { Field, Int, ObjectType } from "@nestjs/graphql";
import { Exclude } from "class-transformer";

@ObjectType()
export class User {
  @Field(() => Int)
  id: number;

  @Field()
  email: string;

  @Field()
  name: string;

  @Field()
  role: string;

  @Exclude()
  passwordHash: string;

  constructor(row: Partial<User>) {
    Object.assign(this, row);
  }
}
