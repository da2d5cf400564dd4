export const Pitch = 1;
