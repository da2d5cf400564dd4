/** Returns the message of any thrown value. A path through the descriptor of a folder is named by what follows that. */
export function errorMessage(thrown: unknown): string {
  if (thrown instanceof Error) {
    const text = thrown.message || thrown.name;
    // Code can throw an error whose message is no text.
    return typeof text === "string" ? text.replace(/'\/proc\/\d+\/fd\/\d+\//g, "'") : text;
  }
  return typeof thrown === "string" ? thrown : String(thrown);
}
