import { Module } from "@nestjs/common";
import { JwtModule } from "@nestjs/jwt";
import { PassportModule } from "@nestjs/passport";
import { UsersModule } from "../users/users.module.js";
import { AuthController } from "./auth.controller.js";
import { JwtStrategy } from "./jwt.strategy.js";
import { LocalStrategy } from "./local.strategy.js";
import { secret } from "./secret.js";

@Module({
  imports: [
    UsersModule,
    PassportModule,
    JwtModule.register({ secret, signOptions: { expiresIn: "15m", audience: "bookshop" } }),
  ],
  controllers: [AuthController],
  providers: [LocalStrategy, JwtStrategy],
  exports: [JwtModule, UsersModule],
})
export class AuthModule {}
