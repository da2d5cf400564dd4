import type { ModelErrorCode } from "./model.ts";

/** Whether trying again can help, by code; what a provider says of the single error goes before. */
export const retryableByCode: Readonly<Record<ModelErrorCode, boolean>> = {
  auth: false,
  rate_limit: true,
  overloaded: true,
  timeout: true,
  network: true,
  broken_stream: true,
  bad_request: false,
  not_found: false,
  bad_response: false,
  too_large: false,
  unexpected_request: false,
};
