import { Module } from "@nestjs/common";
import { AuthModule } from "../auth/auth.module.js";
import { BooksResolver } from "./books.resolver.js";

@Module({ imports: [AuthModule], providers: [BooksResolver] })
export class BooksModule {}
