import { isProduction } from "../../../core/env.ts";
import type { Secret } from "../../../core/key-ring.ts";
import type { SecretReport } from "../../../core/secret-report.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

/** Checks the secrets that the application was built with. Secrets that are too short have stopped the build. */
export function checkSecrets(reports: readonly SecretReport[], cursorKeys: readonly Secret[] = []): readonly Finding[] {
  const found = [...written(reports), ...repeated(cursorKeys), ...shared(reports)];
  if (found.length > 0) return found;
  return [ok("secrets", reports.length === 0 ? "the application has no secrets" : "all secrets look random")];
}

function written(reports: readonly SecretReport[]): readonly Finding[] {
  const judge = isProduction() ? failed : warning;
  const places = Map.groupBy(
    reports.filter(({ isWritten }) => isWritten),
    ({ digest }) => digest,
  );
  return [...places.values()].map((same) => {
    const options = [...new Set(same.map(({ option }) => option))].join(", ");
    return judge(
      "secrets",
      `the secret of ${options} looks like a default for development. Use 32 random bytes in production`,
    );
  });
}

/** A list of secrets is for rotation, which a repeated secret does not achieve. */
function repeated(cursorKeys: readonly Secret[]): readonly Finding[] {
  return new Set(cursorKeys).size < cursorKeys.length
    ? [warning("secrets", `PorticoApp.cursorKeys contains the same secret twice. Remove one of them`)]
    : [];
}

/** Other services may know the secret of tokens, to verify them. */
function shared(reports: readonly SecretReport[]): readonly Finding[] {
  const tokens = reports.filter(({ option }) => option.startsWith("JWTAuthBackend."));
  const others = reports.filter(({ option }) => !option.startsWith("JWTAuthBackend.") && !option.includes("Token"));
  const options = tokens.flatMap(({ option, digest }) =>
    others.filter((other) => other.digest === digest).map((other) => `${option} and ${other.option}`),
  );
  return [...new Set(options)].map((both) =>
    warning(
      "secrets",
      `${both} have the same secret. A service that verifies tokens could forge the other. Use two secrets`,
    ),
  );
}
