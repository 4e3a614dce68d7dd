declare module 'http' {
  /** Headers that @types/node does not declare. `node:http` joins the lines of each into one text (RFC 9110 §5.3). */
  interface IncomingHttpHeaders {
    tracestate?: string | undefined;
    'x-forwarded-for'?: string | undefined;
  }
}

export {};
