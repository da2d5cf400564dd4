/** The version of this package; `package.test.ts` holds it against package.json. */
export const version = "0.1.0";
