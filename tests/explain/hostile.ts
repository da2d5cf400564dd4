import type { Outline } from "../../src/protocol/outline.ts";

/** Texts of a file that could pass for something else: syntax of charts, codes of terminals, lines of our own. */
export const hostile = `a"b]|#quot;<b>\\"\`x\`\nCeiling of nothing\u001b[2J\u202e()[]{};%%end`;

const attachments = { maxAttachments: 4, maxTotalBytes: 10, allowedSuffixes: [hostile], deniedSuffixes: [], mediaTypes: [] };

/** An outline that no compiler makes: every text in it is hostile. */
export const hostileOutline: Outline = {
  v: 1,
  name: hostile,
  root: "/work",
  trusted: false,
  entry: { kind: "worker", id: hostile },
  workers: [
    {
      id: hostile,
      name: hostile,
      description: hostile,
      file: hostile,
      model: { id: hostile, source: hostile, namedBy: "program" },
      compatibleModels: [hostile],
      input: { type: "object", properties: { deck: { type: "string", "x-llm-do": "attachment" } } },
      scopes: [
        {
          name: hostile,
          root: `/${hostile}`,
          mode: "rw",
          outside: true,
          suffixes: [hostile],
          maxFileBytes: 1,
          writeApproval: true,
          readApproval: true,
        },
      ],
      context: [{ part: hostile, tokens: 7 }],
      limits: {},
      attachments,
      toolsets: [
        {
          reference: hostile,
          kind: "code",
          file: hostile,
          tools: [
            { name: hostile, description: hostile, plan: { verdict: "blocked", why: hostile }, calls: [hostile, `${hostile}!`] },
          ],
        },
        { reference: hostile, kind: "unverified", tools: [] },
        {
          reference: hostile,
          kind: "worker",
          worker: hostile,
          tools: [{ name: hostile, description: hostile, plan: { verdict: "asks", why: hostile } }],
          beyond: [`write ${hostile}`],
        },
      ],
    },
  ],
  callables: [{ name: hostile, plan: { verdict: "asks", why: hostile } }],
  limits: {},
  ceiling: {
    workers: [hostile],
    models: [hostile],
    reads: [`/${hostile}`],
    writes: [`/${hostile}`],
    tools: [`${hostile}/${hostile} asks`],
    rules: [hostile],
    code: [hostile],
    unverified: [hostile],
  },
  ceilingDigest: "0".repeat(64),
};
