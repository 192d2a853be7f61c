import { Field, Int, ObjectType } from "@nestjs/graphql";

@ObjectType()
export class Project {
  @Field(() => Int)
  id: number;

  @Field()
  name: string;

  @Field(() => String, { nullable: true })
  description: string | null;

  ownerId: number;

  @Field()
  createdAt: string;
}
