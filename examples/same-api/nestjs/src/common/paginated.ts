import type { Type } from "@nestjs/common";
import { ArgsType, Field, Int, ObjectType } from "@nestjs/graphql";

@ArgsType()
export class PageArgs {
  @Field(() => Int, { nullable: true })
  first?: number;

  @Field(() => String, { nullable: true })
  after?: string;
}

@ObjectType()
export class PageInfo {
  @Field()
  hasNextPage: boolean;

  @Field(() => String, { nullable: true })
  endCursor: string | null;
}

export interface Connection<T> {
  edges: { cursor: string; node: T }[];
  pageInfo: PageInfo;
}

export function Paginated<T>(item: Type<T>): Type<Connection<T>> {
  @ObjectType(`${item.name}Edge`)
  class Edge {
    @Field()
    cursor: string;

    @Field(() => item)
    node: T;
  }

  @ObjectType({ isAbstract: true })
  class Page implements Connection<T> {
    @Field(() => [Edge])
    edges: Edge[];

    @Field(() => PageInfo)
    pageInfo: PageInfo;
  }
  return Page;
}
