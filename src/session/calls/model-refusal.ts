/** Why a model that a call needs was not found, as the caller's error. */
import type * as api from "../../app/session-api";

export const refusal = (error: "unknown_model" | "unavailable", model: string): api.SessionError =>
  error === "unknown_model" ? { code: "unknown_model", model } : { code: "models_unavailable" };
