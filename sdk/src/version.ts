/** The version of the package. `npm run release` sets it. */
export const VERSION = '1.0.0';
