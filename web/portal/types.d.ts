/** What the samples and the form need to know about an operation. The page contains it as JSON. */
export interface Call {
  /** In capitals. */
  method: string;
  /** With parameters in braces. */
  path: string;
  /** The method of the TypeScript client, such as `pets.list`. */
  client: string;
  isSecured: boolean;
  returns: 'list' | 'json' | 'text' | 'stream' | 'nothing';
  /** The media type of the request's body. */
  bodyType?: string | undefined;
  parameters: CallParameter[];
}

export interface CallParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  kind: 'string' | 'number' | 'boolean';
  /** Whether it takes several values, separated by commas in the form. */
  isList: boolean;
}

/** The texts of a form. Parameters without a text are not sent. */
export interface Values {
  parameters: Record<string, string>;
  /** JSON. */
  body?: string | undefined;
}

/** A value that a program computes: the API key from its environment, or a new random ID. */
export type Variable = { variable: 'key' | 'uuid' };

export interface SampleRequest {
  method: string;
  url: string;
  headers: [name: string, value: string | Variable][];
  /** The JSON of the body. */
  body?: string;
}

/** A document of the search index. */
export interface Entry {
  url: string;
  /** What the reader finds. */
  title: string;
  /** The page that contains it. */
  page: string;
  /** What it is for readers: `guide`, a method, a status, `field`. */
  kind: string;
  /** What it is for the order of results. */
  level: 'guide' | 'page' | 'operation' | 'error' | 'parameter' | 'field';
  /** Without Markdown. */
  text: string;
  /** The stems of words that developers use for the page, each with a weight: `retri 4.1,safe 3`. */
  words?: string;
}

/** A result of the search. */
export interface Found {
  entry: Entry;
  score: number;
  /** The stems of the words that were found. */
  matched: Set<string>;
}
