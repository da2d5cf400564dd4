/** How many folders down a walk goes from where it begins. Each level holds a descriptor. */
export const mostLevels = 200;

/** How many names a walk looks at. */
export const mostWalked = 1_000_000;

/** How many folders are named of those that a walk did not enter. */
export const mostNamed = 10;
