/** The Worker's configuration for servers and tests that must not depend on the developer's `.dev.vars`, `.env` or `[vars]`. */
import type { Config } from "../../src/env.ts";

/** A value for each variable (docs/operations.md), and for no other name. */
export type Variables = Readonly<Record<keyof Config, string>>;

/** Every variable as if it were not set, except the environment in every key, which is not production's. */
export const PLAIN_VARIABLES: Variables = {
  KEY_PEPPER: "",
  KEY_PEPPER_PREVIOUS: "",
  KEY_PEPPER_PREVIOUS_UNTIL: "",
  ADMIN_KEY: "",
  ENVIRONMENT: "dev",
  DEAD_LETTER_QUEUE: "longhand-compactions-dead",
  MODELS: "{}",
  POLICY: "balanced",
  OPENAI_API_KEY: "",
  ANTHROPIC_API_KEY: "",
  GOOGLE_GENERATIVE_AI_API_KEY: "",
  OPENAI_COMPATIBLE_API_KEY: "",
  CREDENTIALS_KEYS: "",
  ALLOW_PRIVATE_MODEL_URLS: "false",
  ALLOW_PRIVATE_TOOL_URLS: "false",
  PUBLIC_URL: "",
};
