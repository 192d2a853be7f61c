import { Field, Int, ObjectType, registerEnumType } from "@nestjs/graphql";

export enum TaskStatus {
  OPEN = "OPEN",
  DONE = "DONE",
}
registerEnumType(TaskStatus, { name: "TaskStatus" });

@ObjectType()
export class Task {
  @Field(() => Int)
  id: number;

  projectId: number;

  @Field()
  title: string;

  @Field(() => TaskStatus)
  status: TaskStatus;

  assigneeId: number | null;

  @Field()
  createdAt: string;
}
