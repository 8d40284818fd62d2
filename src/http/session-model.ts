/** A model that the request did not name is no fault of the request. */
import type { SessionError } from "../app/session-api";
import type { HttpError } from "./problem";

/** The refusal of a request that leaves the model as the session has it. */
export function ofSessionModel(error: SessionError): HttpError {
  return error.code === "unknown_model" ? { code: "model_gone", model: error.model } : error;
}
