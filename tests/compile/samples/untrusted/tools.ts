import "./boom.ts";

export const greet = 1;
throw new Error("imported");
