/** The systems that the lab knows beside our own policies. */
import { anthropic } from "./anthropic.ts";
import { cloudflareAgents } from "./cloudflare-agents.ts";
import { codex } from "./codex.ts";
import { geminiCli } from "./gemini-cli.ts";
import { langchain } from "./langchain.ts";
import { mastra } from "./mastra.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";
import type { System } from "./system.ts";

export const SYSTEMS: readonly System[] = [anthropic, codex, geminiCli, opencode, pi, cloudflareAgents, langchain, mastra];
