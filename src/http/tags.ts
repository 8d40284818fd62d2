/** The groups of operations in the OpenAPI document, in the order in which a reader meets them. */

const TAGS = {
  sessions: "A session is one conversation with its settings: model, policy, system prompt, tools.",
  messages: "Messages of users and models, and the results of tools.",
  turns: "A turn is everything that the model does to answer one message.",
  events: "The live stream of a session, and its log.",
  branches: "A conversation that goes back and continues differently keeps what it left as a branch. A fork copies a session.",
  context: "What the model reads: the next request, past requests, compactions of the view, and look-ups in the record.",
  schedules: "Messages that a session submits by itself: once, or again and again.",
  executions: "Calls of tools with their outcomes.",
  policies: "A policy says when the view is compacted, and what stays in it word for word.",
  usage: "Model calls with their tokens and cost.",
  models: "The models that sessions may use, with their limits and prices.",
  credentials: "A tenant's own keys for providers and tools. A key is stored sealed and never shown.",
  tools: "HTTP tools and MCP servers that the service calls for the model.",
  channels: "A channel is a tenant's bot on a chat platform: who may talk to it, and how its chats are held.",
  files: "Images and documents that a tenant stores once and messages refer to.",
  erasures: "The removal of a session, or of all sessions of an end user, from every store, with a receipt.",
  retention: "What is removed by age, by itself, and a dry run of it.",
  exports: "Sessions as a file of lines of JSON, and their restoration in this tenant or another.",
  webhooks: "Addresses to which events are sent, signed, and the log of what was sent.",
  tenant: "The settings of the caller's tenant.",
  keys: "A tenant's API keys, and the access tokens for browsers that they make.",
  audit: "Who changed what, when, and by which request: a log that only grows, and whose entries are chained by hashes.",
  admin: "Operations of the deployment's admin. They take an admin key, which has a role, or ADMIN_KEY.",
  service: "The service itself. These operations need no key.",
} as const;

export type Tag = keyof typeof TAGS;

export const tagList = Object.entries(TAGS).map(([name, description]) => ({ name, description }));
