/** `--debug`, or `LLM_DO_DEBUG` set to anything but nothing, `0` or `false`. */
export function isDebugging({ debug = false }: { readonly debug?: boolean }): boolean {
  return debug || !["", "0", "false"].includes(process.env["LLM_DO_DEBUG"] ?? "");
}
