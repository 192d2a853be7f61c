import { Field, InputType, Int } from "@nestjs/graphql";
import { IsInt, IsOptional, Length } from "class-validator";

@InputType()
export class CreateTaskInput {
  @Field(() => Int)
  @IsInt()
  projectId: number;

  @Field()
  @Length(1, 200)
  title: string;

  @Field(() => Int, { nullable: true })
  @IsOptional()
  @IsInt()
  assigneeId?: number | null;
}
