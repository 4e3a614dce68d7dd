export const KIBIBYTE = 1024;

/** A request. Without other members, it creates a category. */
export interface Sent {
  method?: string;
  path?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export const get = (...paths: string[]): Sent[] => paths.map(path => ({ method: 'GET', path }));
export const withHeaders = (name: string, values: readonly string[], other: Sent = {}): Sent[] =>
  values.map(value => ({ ...other, headers: { ...other.headers, [name]: value } }));
export const bodies = (...all: (string | Buffer | object)[]): Sent[] => all.map(body => ({ body }));
export const writes = (method: string, path: string, ...all: object[]): Sent[] =>
  all.map(body => ({ method, path, body }));

export const JSON_TYPE = 'content-type';
export const patch = { method: 'PATCH', path: '/categories/1' };

/** A cause, the message, which states the problem, and requests. Nothing is done. */
export type Rejection = [what: string, message: RegExp, sent: Sent[]];
