/** Takes one sample of all measurements. */
import type { Told } from "./clients.ts";
import type { Sample } from "./curves.ts";
import { measureFolder, readFootprint } from "./figures.ts";
import type { Scene } from "./scene.ts";
import { measureLag } from "./verify.ts";

const MB = 1_024 * 1_024;

export async function takeSample({ sandbox, told, notes, server, up, kills, startedAt }: Scene): Promise<Sample> {
  const footprint = up && server.group !== undefined ? readFootprint(server.group) : null;
  const folder = measureFolder(sandbox.state);
  const [ack, first] = [notes.ack.takeRecent(), notes.firstToken.takeRecent()];
  return {
    at: (performance.now() - startedAt) / 1_000,
    kills,
    acknowledged: told.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0),
    rss_mb: footprint === null ? null : footprint.rss / MB,
    fds: footprint === null ? null : footprint.fds,
    state_mb: folder.bytes / MB,
    files: folder.files,
    ack_p50: ack.p50,
    ack_p95: ack.p95,
    ack_p99: ack.p99,
    first_p50: first.p50,
    first_p95: first.p95,
    first_p99: first.p99,
    lag: up ? await knownLag([...new Map(told.map((each) => [each.name, each])).values()]) : null,
  };
}

/** The lag of the sessions that clients use now. Null when the server was killed during the request. */
async function knownLag(told: readonly Told[]): Promise<number | null> {
  try {
    return await measureLag(told, 1);
  } catch {
    return null;
  }
}
