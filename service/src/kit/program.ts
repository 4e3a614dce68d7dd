/** The start of a command line of this program, in the directory of the project. */
export const PROGRAM = 'node_modules/.bin/node service/src/main.ts';
