export const hello = "hi";
