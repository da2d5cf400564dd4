import type { ResultFiles } from "./to-prompt.ts";

const pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** The files of tool results that wires take. */
export const picturesAndPdf: ResultFiles = { types: [...pictures, "application/pdf"], place: "result" };
export const xaiPictures: ResultFiles = { types: ["image/png", "image/jpeg"], place: "result" };
/** Gemini. */
export const media: ResultFiles = {
  types: [...pictures, "application/pdf", "audio/wav", "audio/mpeg", "audio/ogg", "audio/flac", "audio/aac", "video/mp4"],
  place: "result",
};
/** Chat completions, in which results are texts. */
export const chatMedia: ResultFiles = { types: [...pictures, "audio/wav", "audio/mpeg"], place: "message" };
export const chatPictures: ResultFiles = { types: pictures, place: "message" };
