/** The rules that a schema cannot express, with the Gemini API's wording of a refusal. */
import { makeSeal } from "../mint.ts";
import type { GenerateBody, WireContent, WirePart } from "./shape.ts";

/** The documented signature for calls that another model made (ai.google.dev/gemini-api/docs/thought-signatures). */
const DUMMY_SIGNATURES = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

const DATA_FIELDS = ["text", "inlineData", "fileData", "functionCall", "functionResponse"] as const;

/** The fault of the request, or null. `signed`: the model's generation signs calls. */
export function findBreach(body: GenerateBody, { signed }: { readonly signed: boolean }): string | null {
  const contents = body.contents ?? [];
  if (contents.length === 0) return "* GenerateContentRequest.contents: contents is not specified\n";
  return (
    breachOfParts(contents) ??
    breachOfTurns(contents) ??
    breachOfPairs(contents) ??
    breachOfSeals(contents) ??
    (signed ? breachOfSignatures(contents) : null) ??
    breachOfTools(body)
  );
}

const readParts = (content: WireContent): readonly WirePart[] => content.parts ?? [];
const callsIn = (content: WireContent | undefined) =>
  (content ? readParts(content) : []).flatMap(({ functionCall }) => (functionCall ? [functionCall] : []));
const responsesIn = (content: WireContent | undefined) =>
  (content ? readParts(content) : []).flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []));

function breachOfParts(contents: readonly WireContent[]): string | null {
  for (const [place, content] of contents.entries()) {
    if (content.role !== "user" && content.role !== "model") return `Please use a valid role: user, model.`;
    if (readParts(content).length === 0) return `* GenerateContentRequest.contents[${place}].parts: contents.parts must not be empty.\n`;
    const bare = readParts(content).findIndex((part) => DATA_FIELDS.filter((field) => part[field] !== undefined).length !== 1);
    if (bare !== -1)
      return `* GenerateContentRequest.contents[${place}].parts[${bare}].data: required oneof field 'data' must have one initialized field\n`;
    const file = readParts(content).find(({ fileData }) => fileData && !/^https:\/\//.test(fileData.fileUri ?? ""));
    if (file)
      return `Unsupported file URI type: ${file.fileData?.fileUri}. File URIs must be from the File API, a public HTTPS URL or a YouTube URL.`;
  }
  return null;
}

function breachOfTurns(contents: readonly WireContent[]): string | null {
  for (const [place, content] of contents.entries()) {
    const before = contents[place - 1];
    if (callsIn(content).length > 0) {
      if (content.role !== "model") return "Please ensure that function call turns have the role model.";
      if (before?.role !== "user")
        return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
    }
    if (responsesIn(content).length > 0 && callsIn(before).length === 0)
      return "Please ensure that function response turn comes immediately after a function call turn.";
  }
  return null;
}

function breachOfPairs(contents: readonly WireContent[]): string | null {
  for (const [place, content] of contents.entries()) {
    const calls = callsIn(content);
    if (calls.length === 0) continue;
    const responses = responsesIn(contents[place + 1]);
    if (responses.length !== calls.length)
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    const names = (items: readonly { readonly name?: string | undefined }[]) =>
      items
        .map(({ name }) => name)
        .toSorted()
        .join();
    if (names(calls) !== names(responses))
      return "Please ensure that the function response names match the function call names of the function call turn.";
  }
  return null;
}

export const makeSignature = (content: unknown): string => Buffer.from(makeSeal("thought", content)).toString("base64");

/** A signature seals its call. Text is streamed in pieces and sent back as one, so a text's signature seals none of it. */
export const signedContent = ({ functionCall }: Pick<WirePart, "functionCall">): unknown =>
  functionCall ? [functionCall.name, functionCall.args ?? {}] : "text";

function breachOfSeals(contents: readonly WireContent[]): string | null {
  for (const part of contents.flatMap(readParts)) {
    const { thoughtSignature } = part;
    if (thoughtSignature === undefined || DUMMY_SIGNATURES.includes(thoughtSignature)) continue;
    if (thoughtSignature !== makeSignature(signedContent(part))) return "Thought signature is not valid.";
  }
  return null;
}

/** In the current turn, which begins with the user's last message, the first call of each step has its signature. */
function breachOfSignatures(contents: readonly WireContent[]): string | null {
  const start = contents.findLastIndex((content) => content.role === "user" && responsesIn(content).length === 0);
  for (const [place, content] of contents.entries()) {
    if (place <= start) continue;
    const [first] = readParts(content).filter(({ functionCall }) => functionCall !== undefined);
    if (first && first.thoughtSignature === undefined) {
      return `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.functionCall?.name}\` , position ${place + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
    }
  }
  return null;
}

function breachOfTools({ tools = [] }: GenerateBody): string | null {
  const names = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations.map(({ name }) => name));
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  return twice === undefined ? null : `Duplicate function declaration found: ${twice}`;
}
