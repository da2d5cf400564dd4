export const main = (): number => 1;
