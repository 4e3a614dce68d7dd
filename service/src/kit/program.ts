/** A command line of this program, to paste in the directory of the project. `data` is the directory of the store, as in PETSTORE_DATA. */
export function commandLine(data: string, args: string): string {
  return `PETSTORE_DATA=${shellQuoted(data)} node_modules/.bin/node service/src/main.ts ${args}`;
}

/** A text as one word of a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
