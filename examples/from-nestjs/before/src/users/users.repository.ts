import { Injectable } from "@nestjs/common";
import { DatabaseService } from "../database/database.service";
import { User } from "./user.entity";

@Injectable()
export class UsersRepository {
  constructor(private readonly database: DatabaseService) {}

  findById(id: number): User | undefined {
    return this.findByIds([id])[0];
  }

  findByIds(ids: readonly number[]): User[] {
    const rows = this.database.all<User>(`select * from users where id in (${ids.map(() => "?").join(", ")})`, ...ids);
    return rows.map((row) => new User(row));
  }

  findByEmail(email: string): User | undefined {
    const row = this.database.get<User>("select * from users where email = ?", email);
    return row === undefined ? undefined : new User(row);
  }
}
