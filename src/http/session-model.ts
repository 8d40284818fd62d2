/** Errors about a model that the request did not name, and so is not at fault for. */
import type { SessionError } from "../app/session-api";
import type { HttpError } from "./problem";

/** Converts the error of a request that may name a model: only that model is its own fault. */
export const ofNamedModel = (error: SessionError, { model }: { readonly model?: string | null | undefined }): HttpError =>
  error.code === "unknown_model" && error.model === model ? error : ofSessionModel(error);

/** Converts the error of a request that leaves the session's model as it is. */
export function ofSessionModel(error: SessionError): HttpError {
  return error.code === "unknown_model" ? { code: "model_gone", model: error.model } : error;
}
