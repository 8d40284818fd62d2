/**
 * Adds names to log lines: tenant and session to every line of a session's object and its jobs, the tenant to every line of a tenant's
 * object.
 */
import type { Log } from "./ports";

type Names = Readonly<Record<string, string>>;

/** `names` is called for each line. If it throws, the line is written without the names: a log must not add to a failure. */
export function withNames(log: Log, names: () => Names): Log {
  const known = (): Names => {
    try {
      return names();
    } catch {
      return {};
    }
  };
  return {
    info: (event, fields) => log.info(event, { ...known(), ...fields }),
    warn: (event, fields) => log.warn(event, { ...known(), ...fields }),
    error: (event, fields) => log.error(event, { ...known(), ...fields }),
  };
}
