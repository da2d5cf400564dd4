export const greet = 1;
throw new Error("imported");
