import { coordinatePlaces } from "./coordinate-places.ts";
import { endpointPlaces } from "./endpoint-places.ts";
import { eventPlaces } from "./event-places.ts";
import { fieldPlaces } from "./field-places.ts";
import type { Place } from "./place.ts";
import { restPlaces } from "./rest-places.ts";
import { routePlaces } from "./route-places.ts";
import { typePlaces } from "./type-places.ts";

/** Every place that a gate guards. */
export const places: readonly Place[] = [
  ...routePlaces,
  ...restPlaces,
  ...endpointPlaces,
  ...fieldPlaces,
  ...typePlaces,
  ...eventPlaces,
  ...coordinatePlaces,
];
