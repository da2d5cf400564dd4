import { inCode } from "./in-code.ts";
import { inManifestsAndFileNames } from "./in-manifests-and-file-names.ts";
import { inSchemasAndTemplates } from "./in-schemas-and-templates.ts";
import { inSettings } from "./in-settings.ts";
import { inToolsetsAndScopes } from "./in-toolsets-and-scopes.ts";
import type { Mistakes } from "./mistake.ts";
import { ofOlderPrograms } from "./of-older-programs.ts";
import { withoutEffect } from "./without-effect.ts";

export const mistakes: Readonly<Record<string, Mistakes>> = {
  "in toolsets and scopes": inToolsetsAndScopes,
  "in settings": inSettings,
  "in schemas and templates": inSchemasAndTemplates,
  "in manifests and file names": inManifestsAndFileNames,
  "of older programs": ofOlderPrograms,
  "in code": inCode,
  "without effect": withoutEffect,
};
