import { ApolloDriver, type ApolloDriverConfig } from "@nestjs/apollo";
import { Module } from "@nestjs/common";
import { GraphQLModule } from "@nestjs/graphql";
import { JwtService } from "@nestjs/jwt";
import { AuthModule } from "./auth/auth.module.js";
import { BooksModule } from "./books/books.module.js";

@Module({
  imports: [
    AuthModule,
    BooksModule,
    GraphQLModule.forRootAsync<ApolloDriverConfig>({
      driver: ApolloDriver,
      imports: [AuthModule],
      inject: [JwtService],
      useFactory: (jwt: JwtService) => ({
        autoSchemaFile: true,
        subscriptions: {
          "graphql-ws": {
            // The guards need a request, and a socket is refused without a valid token.
            onConnect: ({ connectionParams = {}, extra }) => {
              const { authorization } = connectionParams as { authorization?: string };
              jwt.verify(authorization?.replace("Bearer ", "") ?? "", { audience: "bookshop" });
              Object.assign(extra as object, { request: { headers: { authorization } } });
            },
          },
        },
        context: ({ req, extra }: { req?: unknown; extra?: { request: unknown } }) => ({ req: req ?? extra?.request }),
      }),
    }),
  ],
})
export class AppModule {}
