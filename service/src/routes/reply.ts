import type { Success } from '../contract/operation.ts';
import type { Schema } from '../contract/schema.ts';
import type { Scope } from '../contract/scopes.ts';
import type { Static } from '../contract/static.ts';
import type { Content } from '../kit/content.ts';
import type { Page } from '../kit/paging.ts';
import type { MessageSink } from './message-sink.ts';

declare const shape: unique symbol;

/** The JSON text of a `Shape`. */
export type Json<Shape> = string & { readonly [shape]: Shape };

interface ResourceReply<Body> {
  kind: 'resource';
  body: Body;
}

interface CreatedReply<Body> {
  kind: 'created';
  body: Body;
  location: string;
}

export interface PageReply<Item> {
  kind: 'page';
  page: Page<Item>;
  /** The only item that can be on the page, whose ETag the response has. */
  single?: Item | undefined;
}

/** A page of the event log, which has no last page unless the list ends at a time. */
export interface LogReply<Item> {
  kind: 'log';
  /**
   * Returns the page that was read if a key with these scopes gets the same one: they can change before it is read. Otherwise reads the
   * page for these scopes and returns `undefined`: the scopes must then be read again.
   */
  pageFor: (scopes: ReadonlySet<Scope>) => Promise<Page<Json<Item>> | undefined>;
}

interface EmptyReply {
  kind: 'empty';
}

/** Content that is sent compressed, with an ETag of its own. */
export interface ContentReply {
  kind: 'content';
  content: Content;
}

/** Reads the key of a stream from the store. Resolves with why the stream ends, or with `undefined` if it continues. */
export type FindReasonToEnd = () => Promise<string | undefined>;

/** A stream of server-sent events, until the client or the service ends it. */
export interface StreamReply {
  kind: 'stream';
  start: (sink: MessageSink, findReasonToEnd: FindReasonToEnd) => void;
  /**
   * Returns why the stream ends when its key has these scopes, or `undefined` if it continues. Throws ApiError if the key may
   * no longer read it.
   */
  reasonToEnd: (scopes: ReadonlySet<Scope>) => string | undefined;
}

/** The result of a handler; the server adds the headers that every response has. */
export type Reply =
  | ResourceReply<object>
  | CreatedReply<object>
  | PageReply<object>
  | LogReply<object>
  | EmptyReply
  | ContentReply
  | StreamReply;

/** The reply type of an operation with this success response. */
export type ReplyOf<S extends Success> = S extends { status: 204 }
  ? EmptyReply
  : S extends { schema: infer Body extends Schema }
    ? BodyReply<S['status'], Static<Body>>
    : ContentReply | StreamReply;

type BodyReply<Status, Body> = Body extends readonly (infer Item)[]
  ? PageReply<Item> | LogReply<Item>
  : Status extends 201
    ? CreatedReply<Body>
    : ResourceReply<Body>;

const empty: EmptyReply = { kind: 'empty' };

export const reply = {
  resource: <Body extends object>(body: Body): ResourceReply<Body> => ({ kind: 'resource', body }),
  created: <Body extends object>(location: string, body: Body): CreatedReply<Body> => ({
    kind: 'created',
    body,
    location,
  }),
  page: <Item extends object>(page: Page<Item>, single?: Item): PageReply<Item> => ({
    kind: 'page',
    page,
    single,
  }),
  empty,
  log: <Item>(pageFor: LogReply<Item>['pageFor']): LogReply<Item> => ({ kind: 'log', pageFor }),
  content: (content: Content): ContentReply => ({ kind: 'content', content }),
  stream: (start: StreamReply['start'], reasonToEnd: StreamReply['reasonToEnd']): StreamReply => ({
    kind: 'stream',
    start,
    reasonToEnd,
  }),
};
