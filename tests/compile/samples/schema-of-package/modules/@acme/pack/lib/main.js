exports.Verdict = { type: "object" };
