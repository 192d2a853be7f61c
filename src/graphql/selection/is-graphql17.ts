import { versionInfo } from "graphql";

/** Whether graphql 17 or later is installed. The majors differ in a few results, which the plan follows. */
export const isGraphql17: boolean = versionInfo.major >= 17;
