export const greet = 1;
throw new Error("no");
