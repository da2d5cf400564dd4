/** A model's id for people: of a script on this machine only the file's name, which tells it apart well enough. */
export function modelLabel(text: string): string {
  return text.replace(/\bscripted:\S*[\\/]([^\\/\s]+)/, "scripted:$1");
}
