import { Body, Controller, Get, HttpCode, Post } from "@nestjs/common";
import { User } from "../users/user.entity";
import { AuthService } from "./auth.service";
import { CurrentUser } from "./current-user.decorator";
import { LoginDto } from "./login.dto";
import { Public } from "./public.decorator";

@Controller("auth")
export class AuthController {
  constructor(private readonly auth: AuthService) {}

  @Public()
  @Post("login")
  @HttpCode(200)
  login(@Body() { email, password }: LoginDto) {
    return this.auth.login(email, password);
  }

  @Get("me")
  me(@CurrentUser() user: User): User {
    return user;
  }
}
