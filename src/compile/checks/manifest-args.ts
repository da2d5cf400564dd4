import { spanAt } from "../../language/shapes/json-shape.ts";
import type { Program } from "../../program/program.ts";
import { isRecord } from "../../protocol/json.ts";
import { renderIssues, type SchemaIssue } from "../../schema/schema.ts";
import { attachmentField } from "../../toolsets/attachments.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import type { Compilation } from "../compilation.ts";

/** Reports `args` of the manifest that do not fit the entry's input, but for attachments, which a run can be given beside them. */
export async function checkManifestArgs({ manifest, diagnostics }: Compilation, entry: Program["entry"]): Promise<void> {
  const args = manifest?.args;
  const schema = entry.kind === "worker" ? entry.worker.input : entry.code.input;
  if (!args || !schema) return;
  const checked = await schema.validate(args.value.value);
  if (checked.ok) return;
  const fields = isRecord(schema.jsonSchema["properties"]) ? Object.keys(schema.jsonSchema["properties"]) : [];
  const report = (issue: SchemaIssue): void => {
    const [name = ""] = issue.path;
    const note = fields.includes(String(name)) ? undefined : didYouMean(String(name), fields);
    const message = `\`args\` does not fit the input of \`${entry.kind === "worker" ? entry.worker.name : entry.code.name}\`: ${renderIssues([issue])}`;
    diagnostics.report("manifest-args", { message, span: spanAt(args.value.spans, issue.path) ?? args.span, note });
  };
  const files = attachmentField(schema.jsonSchema)?.name;
  for (const issue of checked.issues) if (String(issue.path[0]) !== files) report(issue);
}
