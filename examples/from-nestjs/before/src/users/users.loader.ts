import { Injectable, Scope } from "@nestjs/common";
import DataLoader from "dataloader";
import { User } from "./user.entity";
import { UsersRepository } from "./users.repository";

/** Loads the users of one request with one statement. */
@Injectable({ scope: Scope.REQUEST })
export class UsersLoader {
  private readonly loader = new DataLoader<number, User>(async (ids) => {
    const found = new Map(this.users.findByIds(ids).map((user) => [user.id, user]));
    return ids.map((id) => found.get(id) ?? new Error(`User ${id} not found`));
  });

  constructor(private readonly users: UsersRepository) {}

  load(id: number): Promise<User> {
    return this.loader.load(id);
  }
}
