/** The run: clients, kills and samples at the same time, then the final check. */
import { setTimeout as delay } from "node:timers/promises";
import { readTenant } from "../support/admin.ts";
import { type Connection, callApi } from "../support/api-client.ts";
import { createTenant } from "../support/connection.ts";
import { startProgress } from "../support/progress.ts";
import { createRandom, type Random } from "../support/random.ts";
import type { Target } from "../support/read-model.ts";
import type { Sandbox } from "../support/sandbox.ts";
import type { Notes } from "./attempt.ts";
import { live, MANNERS, SERVER_TOOL, type Told } from "./clients.ts";
import type { Sample } from "./curves.ts";
import type { FaultyProvider } from "./faulty-provider.ts";
import { Latencies } from "./figures.ts";
import { takeSample } from "./sample.ts";
import type { Scene } from "./scene.ts";
import type { ToolService } from "./tool-service.ts";
import { examine, type Findings } from "./verify.ts";

export interface Stage {
  readonly sandbox: Sandbox;
  readonly provider: FaultyProvider;
  readonly tools: ToolService;
}

export interface Size {
  readonly minutes: number;
  readonly kills: number;
  readonly sessions: number;
  readonly tenants: number;
  readonly seed: number;
}

export interface Run {
  readonly kills: number;
  readonly notes: Notes;
  readonly told: readonly Told[];
  readonly samples: readonly Sample[];
  readonly findings: Findings;
  readonly wall_ms: number;
}

/**
 * Models with small windows, so that sessions are compacted every few dozen messages. One is registered with a larger
 * window than it has, so that it refuses long requests.
 */
const MODELS = { small: 4_096, boastful: 12_000 } as const;
const MAX_OUTPUT = 512;
/** Milliseconds between two samples, and the minimum number of samples for a curve. */
const SAMPLE_MS = 5_000;
const LEAST_SAMPLES = 60;
/** The minimum time that a server runs after it was ready, in milliseconds. */
const LEAST_LIFE = 200;

export async function conduct({ sandbox, provider, tools }: Stage, size: Size): Promise<Run> {
  const server = await sandbox.start();
  const notes: Notes = { ack: new Latencies(), firstToken: new Latencies(), resent: 0, ends: {}, refused: [] };
  const scene: Scene = { sandbox, told: [], notes, startedAt: performance.now(), server, up: true, kills: 0, isOver: false };
  const tenants = await openTenants({ scene, provider, tools }, size.tenants);
  const owners = [...tenants.keys()];
  const clients = Array.from({ length: size.sessions }, (_, index) => {
    const connection = owners[index % owners.length];
    const manner = MANNERS[index % MANNERS.length];
    if (!connection || !manner) throw new Error("there is a tenant and a manner for each");
    const model = manner === "long" || manner === "leaver" ? "small" : "boastful";
    const random = createRandom(size.seed + index + 1);
    return live({ name: `${manner}-${index + 1}`, manner, connection, model, random, notes, isOver: () => scene.isOver }, scene.told);
  });
  const samples: Sample[] = [];
  const sampling = keepSampling(scene, samples, size);
  await Promise.all([rage(scene, size, createRandom(size.seed)).finally(() => end(scene, provider)), ...clients]);
  await sampling;
  const findings = await examine(scene.told, tenants);
  return { kills: scene.kills, notes, told: scene.told, samples, findings, wall_ms: performance.now() - scene.startedAt };
}

/** Running turns may end, and no provider fails any more. */
function end(scene: Scene, provider: FaultyProvider): void {
  scene.isOver = true;
  provider.calm();
}

async function openTenants(
  { scene, provider, tools }: { readonly scene: Scene } & Pick<Stage, "provider" | "tools">,
  count: number,
): Promise<ReadonlyMap<Connection, Target>> {
  const tenants = new Map<Connection, Target>();
  const admin = { url: scene.server.url, key: scene.sandbox.adminKey };
  for (let index = 0; index < count; index++) {
    const connection = await createTenant(scene.server.url, scene.sandbox.adminKey);
    for (const [name, context_window] of Object.entries(MODELS)) {
      const body = { provider: "openai-compatible", base_url: provider.baseUrl, context_window, max_output: MAX_OUTPUT };
      await callApi(connection, { method: "PUT", path: `/v1/models/${name}`, body });
    }
    const tool = { url: tools.url, description: "The weather", parameters: { type: "object", properties: {} } };
    await callApi(connection, { method: "PUT", path: `/v1/tools/${SERVER_TOOL}`, body: tool });
    tenants.set(connection, { admin, tenant: readTenant(connection.key) });
  }
  return tenants;
}

/** Kills and restarts, spread over the time. The server is running at the end, and the time is over. */
async function rage(scene: Scene, { kills, minutes }: Size, random: Random): Promise<void> {
  const whole = minutes * 60_000;
  const progress = startProgress("seconds", minutes * 60);
  const elapsed = (): number => performance.now() - scene.startedAt;
  const waitUntil = async (at: number): Promise<void> => {
    do {
      await delay(Math.max(LEAST_LIFE, Math.min(1_000, at - elapsed())));
      progress.show(Math.min(minutes * 60, Math.round(elapsed() / 1_000)), `${scene.kills} kills`);
    } while (elapsed() < at);
  };
  for (let kill = 0; kill < kills; kill++) {
    await waitUntil(((kill + random.between(10, 90) / 100) * whole) / kills);
    scene.up = false;
    await scene.server.kill();
    scene.kills += 1;
    scene.server = await scene.sandbox.start();
    scene.up = true;
  }
  await waitUntil(whole);
  progress.end();
}

async function keepSampling(scene: Scene, samples: Sample[], { minutes }: Size): Promise<void> {
  const every = Math.min(SAMPLE_MS, (minutes * 60_000) / LEAST_SAMPLES);
  while (!scene.isOver) {
    samples.push(await takeSample(scene));
    await delay(every);
  }
}
