// The package has types only for its index, and its index loads the limiters for every database that it supports.
declare module "rate-limiter-flexible/lib/RateLimiterRedis.js" {
  import { RateLimiterRedis } from "rate-limiter-flexible";

  export default RateLimiterRedis;
}
