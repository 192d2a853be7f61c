import { UseGuards } from "@nestjs/common";
import { Args, Mutation, Query, Resolver, Subscription } from "@nestjs/graphql";
import { PubSub } from "graphql-subscriptions";
import { CurrentUser } from "../auth/current-user.decorator.js";
import { GqlAuthGuard } from "../auth/gql-auth.guard.js";
import { PermissionsGuard } from "../auth/permissions.guard.js";
import { RequirePermissions } from "../auth/require-permissions.decorator.js";
import { paginate } from "../common/paginate.js";
import { type Connection, PageArgs } from "../common/paginated.js";
import type { User } from "../users/user.js";
import { Book, BookConnection } from "./book.js";

const pubSub = new PubSub();

@UseGuards(GqlAuthGuard)
@Resolver(() => Book)
export class BooksResolver {
  private readonly books: Book[] = ["Emma", "Middlemarch", "Persuasion"].map((title, i) => ({ id: String(i), title }));

  @UseGuards(PermissionsGuard)
  @RequirePermissions(["read:books"])
  @Query(() => String, { name: "me" })
  me(@CurrentUser() user: User): string {
    return user.username;
  }

  @Query(() => BookConnection, { name: "books" })
  list(@Args() args: PageArgs): Connection<Book> {
    return paginate(this.books, "title", args);
  }

  @Mutation(() => Book)
  async addBook(@Args("title") title: string): Promise<Book> {
    const book = { id: String(this.books.length), title };
    this.books.push(book);
    await pubSub.publish("bookAdded", { bookAdded: book });
    return book;
  }

  @Subscription(() => Book)
  bookAdded(): AsyncIterableIterator<{ bookAdded: Book }> {
    return pubSub.asyncIterableIterator("bookAdded");
  }
}
