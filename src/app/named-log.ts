/** Whose line it is: every line of a session's object and of its jobs carries the tenant and the session, every line of a tenant's object the tenant. */
import type { Log } from "./ports";

type Names = Readonly<Record<string, string>>;

/** `names` is asked for each line. What it throws leaves the line without them: a log must not add to a failure. */
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
