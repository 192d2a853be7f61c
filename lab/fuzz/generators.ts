import { apiKeys } from "./generators/api-keys.ts";
import { cookies } from "./generators/cookies.ts";
import { cursors } from "./generators/cursors.ts";
import { eventStreams } from "./generators/event-streams.ts";
import { floods } from "./generators/floods.ts";
import { fragments } from "./generators/fragments.ts";
import { graphqlOperations } from "./generators/graphql-operations.ts";
import { jsonBodies } from "./generators/json-bodies.ts";
import { multipartForms } from "./generators/multipart-forms.ts";
import { proxyHeaders } from "./generators/proxy-headers.ts";
import { rawHttp } from "./generators/raw-http.ts";
import { socketFrames } from "./generators/socket-frames.ts";
import { socketMessages } from "./generators/socket-messages.ts";
import { tokens } from "./generators/tokens.ts";
import type { Generator } from "./input.ts";

/** In the order in which a round runs them. */
export const generators: readonly Generator[] = [
  rawHttp,
  graphqlOperations,
  jsonBodies,
  multipartForms,
  cookies,
  tokens,
  apiKeys,
  cursors,
  socketMessages,
  socketFrames,
  eventStreams,
  proxyHeaders,
  fragments,
  floods,
];
