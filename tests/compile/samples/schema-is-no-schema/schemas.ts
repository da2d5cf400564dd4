export const Deck = 5;
