import { Field, Int, ObjectType } from "@nestjs/graphql";
import { Task } from "./task.entity";

@ObjectType()
export class TaskPage {
  @Field(() => [Task])
  items: Task[];

  @Field(() => Int)
  total: number;

  @Field(() => Int)
  limit: number;

  @Field(() => Int)
  offset: number;
}
