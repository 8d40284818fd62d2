/** Endpoints of webhooks for the tests that run in workerd, with the receiver that they point to. */
import { env } from "cloudflare:workers";
import OpenAI from "openai";
import { Webhook } from "standardwebhooks";
import { ulid } from "ulidx";
import { inject } from "vitest";
import { tenantObjectName } from "../../src/app/object-name";
import type { WebhookDeliveryDetail, WebhookEndpoint } from "../../src/contract/webhook";
import type { ReceivedHook, ScriptedAnswer } from "../support/webhook-receiver";
import { ringNow } from "./alarms";
import { readBody, type Tenant } from "./support";

export interface HookBody {
  readonly id: string;
  readonly object: string;
  readonly type: string;
  readonly created_at: number;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>> & { readonly id: string };
}

/** A mailbox of the receiver. */
export class Receiver {
  readonly name = `hook-${ulid()}`;
  readonly url = `${inject("webhookReceiver")}/hooks/${this.name}`;

  async answers(...answers: readonly ScriptedAnswer[]): Promise<void> {
    await readBody(await fetch(this.#control(), { method: "POST", body: JSON.stringify(answers) }));
  }

  async open(gate: string): Promise<void> {
    await readBody(await fetch(`${this.#control()}?open=${gate}`, { method: "POST" }));
  }

  /** All that came, once it is at least so many. */
  async received(atLeast = 0): Promise<readonly ReceivedHook[]> {
    return readBody(await fetch(`${this.#control()}?at_least=${atLeast}`));
  }

  /** The request of this number, which counts from 1, once it came. */
  async nth(n: number): Promise<ReceivedHook> {
    const hook = (await this.received(n))[n - 1];
    if (!hook) throw new Error(`There is no request ${n}`);
    return hook;
  }

  async bodies(atLeast = 0): Promise<readonly HookBody[]> {
    return (await this.received(atLeast)).map(({ body }) => JSON.parse(body) as HookBody);
  }

  #control(): string {
    return `${inject("webhookReceiver")}/control/${this.name}`;
  }
}

/** An endpoint of a tenant, with its present secret. */
export class Hook {
  readonly tenant: Tenant;
  readonly receiver: Receiver;
  readonly id: string;
  secret: string;

  constructor(tenant: Tenant, receiver: Receiver, made: { readonly id: string; readonly secret: string }) {
    this.tenant = tenant;
    this.receiver = receiver;
    this.id = made.id;
    this.secret = made.secret;
  }

  get path(): string {
    return `/v1/webhook_endpoints/${this.id}`;
  }

  async describe(): Promise<WebhookEndpoint> {
    return readBody(await this.tenant.call("GET", this.path));
  }

  /** Its deliveries with bodies and tries, the oldest first. */
  async deliveries(): Promise<readonly WebhookDeliveryDetail[]> {
    const page = await readBody<{ data: readonly { id: string }[] }>(await this.tenant.call("GET", `${this.path}/deliveries?limit=200`));
    const reads = page.data.map(async ({ id }) =>
      readBody<WebhookDeliveryDetail>(await this.tenant.call("GET", `${this.path}/deliveries/${id}`)),
    );
    return (await Promise.all(reads)).toReversed();
  }

  /** Resolves once a delivery is so. */
  async until(is: (delivery: WebhookDeliveryDetail) => boolean): Promise<void> {
    while (!(await this.deliveries()).some(is));
  }

  /** The deliveries, once their states are these. Each look rings the tenant's alarm. */
  async settled(...states: readonly string[]): Promise<readonly WebhookDeliveryDetail[]> {
    for (;;) {
      const found = await this.deliveries();
      if (found.length === states.length && found.every(({ state }, index) => state === states[index])) return found;
      await ringTenant(this.tenant);
    }
  }
}

export const ringTenant = (tenant: Tenant): Promise<boolean> => ringNow(env.TENANTS.getByName(tenantObjectName(tenant.id)));

export async function newHook(tenant: Tenant, settings: object = {}, receiver = new Receiver()): Promise<Hook> {
  const made = await tenant.call("POST", "/v1/webhook_endpoints", { url: receiver.url, ...settings });
  return new Hook(tenant, receiver, await readBody(made, 201));
}

/** Verifies a delivery with both official packages, as their users do. Throws where one refuses it. */
export async function verify({ headers, body }: ReceivedHook, secret: string): Promise<HookBody> {
  const event = new Webhook(secret).verify(body, { ...headers }) as HookBody;
  const client = new OpenAI({ apiKey: "sk-unused", webhookSecret: secret, dangerouslyAllowBrowser: true });
  const unwrapped = await client.webhooks.unwrap(body, { ...headers });
  if (JSON.stringify(unwrapped) !== JSON.stringify(event)) throw new Error("The packages read different events");
  return event;
}
