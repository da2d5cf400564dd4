import type { Spanned } from "../../diagnostics/source.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import type { Compilation } from "../compilation.ts";
import type { Home } from "../home.ts";
import { isSpecifier } from "./packages.ts";

/** The export that `./file.ts:Name` or `package:Name` refers to. Without trust it is not verified: its value is unknown. */
export type FoundExport = { readonly path: string; readonly home: Home; readonly name: string } & (
  | { readonly verified: true; readonly value: unknown }
  | { readonly verified: false }
);

const form = /^(.+):([A-Za-z_$][\w$]*)$/;

export function isModuleReference(text: string): boolean {
  return form.test(text);
}

/** The export that a module reference means. Undefined, with a diagnostic, if there is none. */
export async function findExport(
  compilation: Compilation,
  reference: Spanned<string>,
  home: Home,
): Promise<FoundExport | undefined> {
  const { modules, diagnostics } = compilation;
  const [, module = "", name = ""] = form.exec(reference.value) ?? [];
  const place = await findModule(compilation, { module, reference, home });
  if (!place) return undefined;
  const use = { home: place.home, from: reference.span };
  const { names, complete, failed } = await modules.exports(place.path, use);
  if (failed) return undefined;
  if (!names.has(name) && (complete || modules.trusted)) {
    const note = didYouMean(name, names.keys());
    const message = `\`${clipText(module, 80)}\` exports no \`${clipText(name, 60)}\``;
    return diagnostics.report("export-missing", { message, span: reference.span, note });
  }
  const values = await modules.values(place.path, use);
  if (values) return { ...place, name, verified: true, value: values.get(name) };
  return modules.trusted ? undefined : { ...place, name, verified: false };
}

async function findModule(
  { packages, files }: Compilation,
  { module, reference, home }: { readonly module: string; readonly reference: Spanned<string>; readonly home: Home },
): Promise<{ readonly path: string; readonly home: Home } | undefined> {
  if (!isSpecifier(module)) {
    const path = await files.resolve({ value: module, span: reference.span }, home);
    return path === undefined ? undefined : { path, home };
  }
  const found = await packages.find(module, reference);
  const path = found && (await packages.codeFile(module, found, reference));
  return path === undefined || !found ? undefined : { path, home: found.home };
}
