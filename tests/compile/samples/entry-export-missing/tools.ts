export const man = () => 1;
