/** Renders a model's id. For a script on this machine, the file's name alone is enough. */
export function modelLabel(text: string): string {
  return text.replace(/\bscripted:\S*[\\/]([^\\/\s]+)/, "scripted:$1");
}
