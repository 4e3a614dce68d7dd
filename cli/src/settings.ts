/** What a command uses of its process. */
export interface Surroundings {
  environment: NodeJS.ProcessEnv;
  /** The directory of the profiles. */
  configDirectory: string;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Ends the command, as Ctrl-C does. */
  signal: AbortSignal;
}

/** The options that all commands have, and what they depend on. */
export interface Settings extends Pick<Surroundings, 'environment' | 'configDirectory'> {
  url: string | undefined;
  apiKeyFile: string | undefined;
  /** What standard input contains, if `apiKeyFile` is `-`. */
  input: string | undefined;
  profile: string | undefined;
  isJson: boolean;
  /** The fields to print, in their order. */
  fields: string[] | undefined;
  isQuiet: boolean;
  /** The longest wait for a limit, in milliseconds. */
  maxWait: number | undefined;
  /** The format of a command whose output is a file. */
  format: 'csv' | 'ndjson' | undefined;
  /** Whether cells of CSV that begin like formulas are written without an escape. */
  isRaw: boolean;
  /** Whether a list is printed as CSV. */
  isCsv: boolean;
}
