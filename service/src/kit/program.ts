/**
 * A command line of this program, to paste in the directory of the project. It names the directory of this process's store; the URL of a
 * database is left out, because it can have a password.
 */
export function commandLine(args: string): string {
  const { DATABASE_URL, PETSTORE_DATA } = process.env;
  const store = !DATABASE_URL && PETSTORE_DATA ? `PETSTORE_DATA=${shellQuoted(PETSTORE_DATA)} ` : '';
  return `${store}node_modules/.bin/node service/src/main.ts ${args}`;
}

/** A text as one word of a POSIX shell. */
export function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
