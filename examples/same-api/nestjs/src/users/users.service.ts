import { Injectable, OnModuleInit } from "@nestjs/common";
import { hash } from "bcrypt";
import type { User } from "./user.js";

@Injectable()
export class UsersService implements OnModuleInit {
  private readonly users: User[] = [];

  async onModuleInit(): Promise<void> {
    const passwordHash = await hash("correct horse battery", 10);
    this.users.push({ id: "1", username: "ann", passwordHash, permissions: ["read:books"] });
    this.users.push({ id: "2", username: "ben", passwordHash, permissions: [] });
  }

  findByName(username: string): User | undefined {
    return this.users.find((user) => user.username === username);
  }

  findById(id: string): User | undefined {
    return this.users.find((user) => user.id === id);
  }
}
