import { Module } from "@nestjs/common";
import { UsersLoader } from "./users.loader";
import { UsersRepository } from "./users.repository";
import { UsersResolver } from "./users.resolver";

@Module({
  providers: [UsersRepository, UsersLoader, UsersResolver],
  exports: [UsersRepository, UsersLoader],
})
export class UsersModule {}
