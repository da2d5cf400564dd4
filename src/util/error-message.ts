/** Returns the message of any thrown value. A path through the descriptor of a folder is named by what follows that. */
export function errorMessage(thrown: unknown): string {
  if (thrown instanceof Error) return (thrown.message || thrown.name).replace(/'\/proc\/\d+\/fd\/\d+\//g, "'");
  return typeof thrown === "string" ? thrown : String(thrown);
}
