/** A request for a response as it is read: what it adds, where, and how it is asked. Nothing is looked up yet. */
import { z } from "@hono/zod-openapi";
import type { RespondInput } from "../../../app/respond-api";
import type { FieldError } from "../../../contract/problem";
import type { SessionId } from "../../../domain/ids";
import { err, ok, type Result } from "../../../lib/result";
import type { Asker, HttpDeps } from "../../deps";
import type { HttpError } from "../../problem";
import { generationInput } from "../../schemas/generation";
import { type ToolInput, toolsInput } from "../../schemas/tool";
import { type NamedLeg, parseSessionName } from "../../surface/ids";
import { parseKnown, toFieldErrors } from "../../validation";
import { openGiven } from "../items/read-given";
import { readInputItems } from "../items/read-items";
import type { ReferencePlace } from "../items/references";
import type { ReadInput } from "../items/transcript";
import { findBodyFault, type ResponseBody, readConversation, readResponseGeneration, responseInput } from "./input";
import { parseResponseName } from "./read-response";
import { toResponseField, toUnknownPlace } from "./refusal";
import { type BroughtTools, findChoiceFault, listLeftOut, listOffered, readBroughtTools } from "./tools";

/** What the response continues. A name that this service cannot have given is of no place. */
type Place =
  | { readonly kind: "nothing" }
  | { readonly kind: "conversation"; readonly session: SessionId }
  | { readonly kind: "response"; readonly previous: NamedLeg };

export interface ResponseRequest {
  readonly body: ResponseBody;
  readonly input: ReadInput;
  readonly place: Place;
  readonly generation: RespondInput["generation"];
  readonly brought: BroughtTools;
  /** What the model is offered. Null: the session's tools. */
  readonly tools: readonly ToolInput[] | null;
  /** Where the request has each of them. */
  readonly toolFields: readonly string[];
}

const invalid = (...errors: readonly FieldError[]) => err({ code: "invalid_request" as const, errors });

/** The body with the compactions and references of its input opened, which is to be parsed then. */
export async function openInput(c: Asker, deps: HttpDeps, given: unknown): Promise<Result<unknown, HttpError>> {
  const named = z.looseObject({ input: z.array(z.unknown()) }).safeParse(given);
  if (!named.success) return ok(given);
  const input = await openGiven(c, deps, { field: "input", items: named.data.input, place: toReferencePlace(named.data) });
  return input.ok ? ok({ ...named.data, input: input.value }) : input;
}

const placeNames = z.looseObject({
  previous_response_id: z.string().nullish().catch(null),
  conversation: z
    .union([z.string(), z.looseObject({ id: z.string() }).transform(({ id }) => id)])
    .nullish()
    .catch(null),
});

/** What a body continues, as far as its names can be read. What is wrong with them is refused when the body is parsed. */
export function toReferencePlace(body: unknown): ReferencePlace | null {
  const named = placeNames.safeParse(body);
  const { previous_response_id: previous, conversation } = named.success ? named.data : {};
  const leg = previous ? parseResponseName(previous) : null;
  if (leg) return { session: leg.session, after: leg.turn };
  const session = conversation ? parseSessionName("conv_", conversation) : null;
  return session && { session, after: null };
}

/** `given`: the JSON of the body, or of a message on a socket. `unknown`: the members and tools that were left out. */
export function parseResponseRequest(given: unknown): Result<ResponseRequest & { readonly unknown: readonly string[] }, HttpError> {
  const parsed = parseKnown(responseInput, given);
  if (!parsed.ok) return invalid(...parsed.error);
  const { value: body, unknown } = parsed.value;
  const fault = findBodyFault(body);
  if (fault) return invalid(fault);
  const place = readPlace(body);
  if (!place.ok) return place;
  const input = readInput(body);
  if (!input.ok) return input;
  const brought = readBroughtTools(body);
  if (!brought.ok) return invalid(...brought.error);
  const choice = findChoiceFault(brought.value, body.tool_choice);
  if (choice) return invalid(choice);
  const [generation, offered] = [readResponseGeneration(body), listOffered(brought.value, body.tool_choice)];
  const tools = offered?.map((each) => each.input) ?? null;
  const toolFields = offered?.map(({ field }) => field) ?? [];
  const errors = findBoundFaults({ generation, tools, toolFields });
  if (errors.length > 0) return invalid(...errors);
  const asked = { generation, brought: brought.value, tools, toolFields };
  return ok({ body, input: input.value, place: place.value, ...asked, unknown: [...unknown, ...listLeftOut(brought.value)] });
}

function readPlace(body: ResponseBody): Result<Place, HttpError> {
  const { previous_response_id: previous } = body;
  if (typeof previous === "string") {
    const leg = parseResponseName(previous);
    return leg ? ok({ kind: "response", previous: leg }) : err(toUnknownPlace({ code: "turn_not_found", turn: previous }, body));
  }
  const name = readConversation(body);
  if (name === null) return ok({ kind: "nothing" });
  const session = parseSessionName("conv_", name);
  return session ? ok({ kind: "conversation", session }) : err({ code: "session_not_found" });
}

function readInput({ input }: ResponseBody): Result<ReadInput, HttpError> {
  if (input === undefined || input === null) return invalid({ field: "input", detail: "Missing required parameter: 'input'." });
  const read = readInputItems(input, "input");
  if (!read.ok) return invalid(read.error);
  const [call] = read.value.unanswered;
  if (call !== undefined) return invalid({ field: "input", detail: `No tool output found for function call ${call}.` });
  return ok(read.value);
}

/** Bounds that hold for tools and settings on every surface. */
function findBoundFaults({
  generation,
  tools,
  toolFields,
}: Pick<ResponseRequest, "generation" | "tools" | "toolFields">): readonly FieldError[] {
  const [settings, offered] = [generationInput.safeParse(generation ?? {}), toolsInput.safeParse(tools ?? [])];
  const faults = [
    ...(settings.success
      ? []
      : toFieldErrors(settings.error.issues).map(({ field, detail }) => ({ field: `generation.${field}`, detail }))),
    ...(offered.success ? [] : toFieldErrors(offered.error.issues).map(({ field, detail }) => ({ field: `tools.${field}`, detail }))),
  ];
  return faults.map(({ field, detail }) => ({ field: toResponseField(field, toolFields), detail }));
}
