/** The page of quirks, from the table of `src/context/model-quirks`. */
import { ENDPOINTS, FAMILIES, QUIRK_NAMES, type Quirks, quirksSchema, USUAL } from "../../src/context/model-quirks.ts";

const toWords = (value: unknown): string => `\`${JSON.stringify(value).replaceAll('"', "")}\``;
const listQuirks = (quirks: Quirks): string =>
  Object.entries(quirks)
    .map(([name, value]) => `\`${name}: ${JSON.stringify(value).replaceAll('"', "")}\``)
    .join(", ");

function listValues(quirk: (typeof QUIRK_NAMES)[number]): string {
  const shape = quirksSchema.shape[quirk].unwrap();
  if ("options" in shape) return shape.options.map(toWords).join(", ");
  return shape.type === "boolean" ? "`true`, `false`" : "bytes";
}

const toRow = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const quirkRows = QUIRK_NAMES.map((quirk) => {
  const words = quirksSchema.shape[quirk].unwrap().description ?? "";
  return toRow(`\`${quirk}\``, listValues(quirk), toWords(USUAL[quirk]), words);
});
const familyRows = FAMILIES.map(({ name, quirks, source }) => toRow(name, listQuirks(quirks), `[source](${source})`));
const endpointRows = ENDPOINTS.map(({ id, name, base_url, quirks }) =>
  toRow(`\`${id}\``, name, base_url === null ? "the provider's own" : `\`${base_url}\``, listQuirks(quirks) || "none"),
);

export const QUIRKS_PAGE = `# Quirks

Endpoints of chat completions differ from OpenAI's, and refuse what they do not know. This page says how requests are fitted to them. It is
written by \`npm run providers -- --page\` from one table, \`src/context/model-quirks.ts\`.

What holds for a model is, in this order: what its entry says (\`quirks\` of \`PUT /v1/models/{model_id}\`, or of \`MODELS\`), what a refusal taught,
its endpoint, its family, the usual. \`GET /v1/models/{model_id}\` lists what is not usual, with its source.

\`\`\`sh
URL=$(grep -o 'http://[^"]*' .longhand/dev.json)
KEY=$(grep -o 'lh_[A-Za-z0-9_]*' .longhand/dev.json)
curl -s -w '\\n' -X PUT -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' $URL/v1/models/local-qwen \\
  -d '{"endpoint": "vllm", "upstream_id": "qwen3", "context_window": 32768, "max_output": 4096, "quirks": {"system": "merged"}}'
curl -s -X DELETE -H "Authorization: Bearer $KEY" $URL/v1/models/local-qwen
\`\`\`

## The quirks

| quirk | values | usual | what it says |
|---|---|---|---|
${quirkRows.join("\n")}

\`truncates_silently\` and \`max_request_bytes\` hold for every provider, the others for \`openai-compatible\` and \`openai-chat\`. OpenAI's own chat
completions get \`max_completion_tokens\`.

## What a refusal teaches

A refusal that names one of these is followed by one more call without it, for turns and summaries alike: at most four lessons for an answer.
Under a [budget](budgets.md) that call is paid, too.

The lesson holds for the session at once, and for the tenant's other sessions within half a minute: for the address and the provider's name of the
model, for seven days. A bound in bytes is the address's: what the refusal named, or half of what was sent, and it doubles each day. To forget
lessons, put or probe the model.

Where a refusal points at the conversation itself, or gives no reason with status 400 or 422, the same history is sent once in the **plainest
rendering**:

- all instructions in one message in front, ids of nine characters, no two messages of one role in a row;
- before the last message of the user no thinking, no metadata of a provider, and images in words. What a model signed stays while its turn runs.

Nothing is compacted for it. A model that took the plain rendering gets it in this session until a summary replaces what was refused.

A named setting of the client, a key, an unknown model, a filter and a region are never answered in this way.

## Endpoints

\`endpoint\` names one of these. An endpoint with a host of its own is also recognised by its base URL.

| \`endpoint\` | name | base URL | quirks |
|---|---|---|---|
${endpointRows.join("\n")}

\`npm run providers\` asks a stand-in of each, which refuses as the endpoint does, and every real one whose key is in the environment.

## Families

They are recognised by the provider's name for the model, behind its last slash, at every compatible endpoint.

| family | quirks | |
|---|---|---|
${familyRows.join("\n")}
`;
