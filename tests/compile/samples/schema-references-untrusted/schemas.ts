export const Pitch = 1;
export const Verdict = 2;
