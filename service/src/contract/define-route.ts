import type { Queries, Writer } from '../db/database.ts';
import { defaultSortOf, describeSorts, type FilterOf, type List, sortsOf } from '../db/list.ts';
import { mergePatch } from '../kit/merge-patch.ts';
import type { Page } from '../kit/paging.ts';
import type { ErrorCode } from './errors.ts';
import { idToFind, type Schema } from './schema.ts';
import type { Scope } from './scopes.ts';
import type { Static } from './static.ts';
import type { Tag } from './tags.ts';

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof methods)[number];

/** `experimental` may change at any time, `beta` only with a changelog entry; stable is unsaid. */
export type Stability = 'experimental' | 'beta';

export interface Deprecation {
  /** The day the operation was deprecated, YYYY-MM-DD: midnight UTC is sent in `Deprecation` (RFC 9745). */
  since: string;
  /** The day it ends, YYYY-MM-DD: from midnight UTC, sent in `Sunset` (RFC 8594), it answers 410. */
  sunset: string;
  /** The URL to use instead, as a template over the path's parameters. */
  successor: string;
}

/** What the domain needs from every request: the stores, and the instant at which it was received. */
export interface Services {
  db: Queries & Writer;
  /** Milliseconds since the Unix epoch. */
  now: number;
}

export interface Request<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** Throws `precondition_failed` unless `current` is what the caller's If-Match and If-None-Match ask for. */
  guard: (current: object) => void;
  /** The header `Last-Event-ID`, of a client that goes on with a stream. */
  lastEventId: string | undefined;
  /** Aborted when nobody waits for the answer any more, and when the service shuts down. */
  signal: AbortSignal;
}

/** What a handler answers with; the server adds the headers that every response has. */
export type Reply =
  | { kind: 'resource'; body: object }
  | { kind: 'created'; body: object; location: string }
  | { kind: 'page'; page: Page<object> }
  | { kind: 'empty' }
  | { kind: 'text'; text: string; contentType: string }
  /** A page of a list that never ends, its items as JSON already. */
  | { kind: 'log'; items: string[]; next: string }
  /** Server-sent events, until one side ends them. */
  | { kind: 'stream'; start: (sink: MessageSink) => void };

/** Where a stream of server-sent events goes. */
export interface MessageSink {
  /** Sends whole messages. Answers false when the reader is behind: nothing more is to be sent until it has caught up. */
  send(messages: readonly Uint8Array[]): boolean;
  /** Ends the stream, and tells the reader why. */
  end(reason: string): void;
  /** Has `message` asked for what shows now and then that the stream is alive. */
  onBeat(message: () => Uint8Array): void;
  onDrain(listener: () => void): void;
  onClose(listener: () => void): void;
}

/** What an operation without parameters, or without a body, has in their place. */
type Nothing = { type: 'object' };

export interface RouteDefinition<P extends Schema, Q extends Schema, B extends Schema, S extends Services> {
  method: Method;
  /** An OpenAPI path template: `/pets/{petId}`. */
  path: string;
  operationId: string;
  tag: Tag;
  /** One line. */
  summary: string;
  /** Rules and consequences, in CommonMark. */
  description: string;
  /**
   * The scope that the caller's key needs, or several of which it needs all: `any` where every valid key will do, `null`
   * where no key is needed and no quota is used.
   */
  scope: Scope | readonly Scope[] | 'any' | null;
  /** `account` where requests draw on a bucket that the key has for its account alone, and not on its limits. */
  countedBy?: 'account';
  params?: P;
  query?: Q;
  body?: B;
  /** Whether no body at all stands for an empty one. */
  bodyOptional?: boolean;
  /** The shapes to publish for the body where they are narrower than `body`. One of them must match. */
  publishedBody?: readonly Schema[];
  /** An example request body. */
  example?: object;
  /** The success response: its meaning and shape. Its status follows from the method and the reply's kind. */
  success: {
    status: 200 | 201 | 204;
    description: string;
    schema?: Schema;
    example?: unknown;
    mediaType?: string;
  };
  /** Whether single resources of this operation carry an ETag and conditions are honoured. */
  conditional?: boolean;
  /** Fields of the created resource that are shown once: a replay under an Idempotency-Key leaves them out. */
  shownOnce?: readonly string[];
  /** The codes it may answer with, beside those that follow from its definition. */
  errors: readonly ErrorCode[];
  deprecation?: Deprecation;
  stability?: Stability;
  /** No interactive try-it in the portal. */
  hideTryIt?: boolean;
  /** Runs before the handler and outside of its transaction: what must be waited for elsewhere than in the store. */
  prepare?: (request: Request<Static<P>, Static<Q>, Static<B>>, services: S) => Promise<void>;
  handler: (request: Request<Static<P>, Static<Q>, Static<B>>, services: S) => Promise<Reply>;
}

/** A route as the server and the document see it, its handler's types erased. */
export type Route<S extends Services = never> = Omit<
  RouteDefinition<Schema, Schema, Schema, S>,
  'prepare' | 'handler'
> & {
  prepare?: (request: Request<never, never, never>, services: S) => Promise<void>;
  handler: (request: Request<never, never, never>, services: S) => Promise<Reply>;
};

/** Defines an operation once: the server, the OpenAPI document and everything made from it read this. */
export function defineRoute<
  const P extends Schema = Nothing,
  const Q extends Schema = Nothing,
  const B extends Schema = Nothing,
  S extends Services = Services,
>(definition: RouteDefinition<P, Q, B, S>): Route<S> {
  return definition as unknown as Route<S>;
}

/** The scopes that a key needs for an operation: all of them. */
export function requiredScopes(scope: Route['scope']): readonly Scope[] {
  if (scope === null || scope === 'any') return [];
  return typeof scope === 'string' ? [scope] : scope;
}

export const reply = {
  resource: (body: object): Reply => ({ kind: 'resource', body }),
  created: (location: string, body: object): Reply => ({ kind: 'created', body, location }),
  page: (page: Page<object>): Reply => ({ kind: 'page', page }),
  empty: { kind: 'empty' } as Reply,
  log: (items: string[], next: string): Reply => ({ kind: 'log', items, next }),
  stream: (start: (sink: MessageSink) => void): Reply => ({ kind: 'stream', start }),
};

/** What a PUT makes of the current state: the body, provided that the caller's conditions hold. */
export function replacement<B>({ guard, body }: Pick<Request<unknown, unknown, B>, 'guard' | 'body'>) {
  return (current: object): B => {
    guard(current);
    return body;
  };
}

/** What a PATCH makes of the current state: the body merged into it, provided that the caller's conditions hold. */
export function merged({ guard, body }: Pick<Request<unknown, unknown, object>, 'guard' | 'body'>) {
  return <Current extends object>(current: Current): Current => {
    guard(current);
    return mergePatch(current, body);
  };
}

export const pageLimit = {
  type: 'integer',
  minimum: 1,
  maximum: 100,
  default: 20,
  description: 'How many items a page has at most.',
} as const;

/** The query of a list: a schema for each of its filters, its sorts, and where the page begins and ends. */
export function listQuery<L extends List, const Filters extends Record<FilterOf<L>, Schema>>(
  list: L,
  filters: Filters & Record<Exclude<keyof Filters, FilterOf<L>>, never>,
) {
  const properties = {
    ...filters,
    sort: {
      type: 'string',
      enum: sortsOf(list),
      ...defaultSortOf(list),
      description: describeSorts(list),
    },
    limit: pageLimit,
    cursor: {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      description: 'Where the page begins: taken from the `Link` header of the page before.',
    },
  } as const;
  return { type: 'object', additionalProperties: false, properties } as const;
}

/** The schema of a path whose parameters are an ID, and one of something that belongs to it. */
export function nestedIdParams<const Owner extends string, const Name extends string>(
  owner: ReturnType<typeof idParams<Owner>>,
  name: ReturnType<typeof idParams<Name>>,
) {
  return {
    type: 'object',
    required: [...owner.required, ...name.required],
    additionalProperties: false,
    properties: { ...owner.properties, ...name.properties },
  } as const;
}

/** The schema of a path whose one parameter is an ID. */
export function idParams<const Name extends string>(name: Name, description: string) {
  const parameter = { ...idToFind, description } as const;
  return {
    type: 'object',
    required: [name],
    additionalProperties: false,
    properties: { [name]: parameter } as { [N in Name]: typeof parameter },
  } as const;
}
