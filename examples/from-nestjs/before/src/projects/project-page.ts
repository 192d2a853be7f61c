import { Field, Int, ObjectType } from "@nestjs/graphql";
import { Project } from "./project.entity";

@ObjectType()
export class ProjectPage {
  @Field(() => [Project])
  items: Project[];

  @Field(() => Int)
  total: number;

  @Field(() => Int)
  limit: number;

  @Field(() => Int)
  offset: number;
}
