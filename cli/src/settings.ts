/** The options that all commands have, and the environment. */
export interface Settings {
  url: string | undefined;
  apiKeyFile: string | undefined;
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
  environment: NodeJS.ProcessEnv;
}
