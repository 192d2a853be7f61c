import { Field, ID, ObjectType } from "@nestjs/graphql";
import { Paginated } from "../common/paginated.js";

@ObjectType()
export class Book {
  @Field(() => ID)
  id: string;

  @Field()
  title: string;
}

@ObjectType()
export class BookConnection extends Paginated(Book) {}
