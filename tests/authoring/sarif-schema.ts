const text = {
  type: "object",
  required: ["text"],
  properties: { text: { type: "string", minLength: 1 } },
  additionalProperties: false,
};

const position = { type: "integer", minimum: 1 };

const location = {
  type: "object",
  required: ["physicalLocation"],
  properties: {
    id: { type: "integer", minimum: 0 },
    message: text,
    physicalLocation: {
      type: "object",
      required: ["artifactLocation", "region"],
      properties: {
        artifactLocation: {
          type: "object",
          required: ["uri"],
          properties: { uri: { type: "string", pattern: "^[A-Za-z0-9._~/%!$&'()*+,;=@-]+$|^file:///" } },
          additionalProperties: false,
        },
        region: {
          type: "object",
          required: ["startLine"],
          properties: { startLine: position, startColumn: position, endLine: position, endColumn: position },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

const level = { enum: ["none", "note", "warning", "error"] };

const rule = {
  type: "object",
  required: ["id"],
  properties: {
    id: { type: "string", minLength: 1 },
    shortDescription: text,
    fullDescription: text,
    help: text,
    defaultConfiguration: { type: "object", properties: { level }, additionalProperties: false },
  },
  additionalProperties: false,
};

const result = {
  type: "object",
  required: ["message"],
  properties: {
    ruleId: { type: "string" },
    ruleIndex: { type: "integer", minimum: 0 },
    level,
    message: text,
    locations: { type: "array", items: location },
    relatedLocations: { type: "array", items: location, uniqueItems: true },
  },
  additionalProperties: false,
};

const driver = {
  type: "object",
  required: ["name"],
  properties: {
    name: { const: "llm-do" },
    version: { type: "string" },
    rules: { type: "array", items: rule, uniqueItems: true },
  },
  additionalProperties: false,
};

/** The part of SARIF 2.1.0 that is written: its required properties, its types, and nothing beside them. */
export const sarifSchema = {
  type: "object",
  required: ["version", "runs"],
  properties: {
    $schema: { type: "string" },
    version: { const: "2.1.0" },
    runs: {
      type: "array",
      items: {
        type: "object",
        required: ["tool"],
        properties: {
          tool: { type: "object", required: ["driver"], properties: { driver }, additionalProperties: false },
          columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
          results: { type: "array", items: result },
        },
        additionalProperties: false,
      },
    },
  },
  additionalProperties: false,
};
