// The package types its index alone, and its index loads the limiters over every database that it knows.
declare module "rate-limiter-flexible/lib/RateLimiterMemory.js" {
  import { RateLimiterMemory } from "rate-limiter-flexible";

  export default RateLimiterMemory;
}

declare module "rate-limiter-flexible/lib/RateLimiterRedis.js" {
  import { RateLimiterRedis } from "rate-limiter-flexible";

  export default RateLimiterRedis;
}
