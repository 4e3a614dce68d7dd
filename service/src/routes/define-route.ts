import type { Exactly } from '../contract/exact.ts';
import { fieldCheckOf } from '../contract/extra-fields.ts';
import type { Method, Operation, Success } from '../contract/operation.ts';
import type { Schema } from '../contract/schema.ts';
import type { Scope } from '../contract/scopes.ts';
import type { Static } from '../contract/static.ts';
import type { Queries } from '../db/database.ts';
import type { Context } from './context.ts';
import type { PageReply, Reply, ReplyOf } from './reply.ts';

/** The schema of missing parameters, or of a missing body. */
type Nothing = { type: 'object' };

/** An operation with its handler, whose input and reply have the types of the schemas. */
interface RouteDefinition<
  M extends Method,
  Path extends string,
  P extends Schema,
  Q extends Schema,
  B extends Schema,
  S extends Success,
  R extends Reply,
> extends Operation {
  method: M;
  path: Path;
  scope: ScopeFor<M>;
  params?: P;
  query?: Q;
  body?: B;
  success: S;
  /**
   * The number of requests that a request with this body counts as, at least 1; the default is 1. The gate counts it when the
   * body was read and checked. Only for operations that publishable keys cannot call, because it counts against a key alone.
   */
  cost?: (body: Static<B>) => number;
  /** The longest time for which the operation waits on purpose, in milliseconds. Its responses may take that much longer. */
  longestWait?: number;
  /**
   * Runs before the handler and outside of its transaction, for work that waits for something other than the store. It does not run when
   * the outcome of an Idempotency-Key is replayed.
   */
  prepare?: (context: ContextFor<M, Static<P>, Static<Q>, Static<B>>) => Promise<void>;
  /** Whether the transaction of the handler takes long (`WriteOptions`). */
  writesAlone?: boolean;
  /**
   * The locks of the handler that follow from its input. A batch takes those of all its operations at once, so that two batches with the
   * same resources do not wait for each other in a circle.
   */
  locks?: (input: { params: Static<P>; body: Static<B> }) => readonly string[];
  handler: (context: ContextFor<M, Static<P>, Static<Q>, Static<B>>) => Promise<R>;
  /**
   * Throws if the caller may no longer get the stored outcome of its earlier request. Only for operations whose rights depend on
   * their input; the gate checks the others.
   */
  rejectReplay?: (context: Context<Static<P>, Static<Q>, Static<B>>, outcome: object) => void;
}

/** An operation that reads gets a store that is only for reading, because its scope may allow no more. */
type ContextFor<M extends Method, P, Q, B> = [M] extends ['GET']
  ? Omit<Context<P, Q, B>, 'db' | 'within' | 'withQuery' | 'part'> & { readonly db: Queries }
  : Context<P, Q, B>;

/** An operation that writes, or that may write, needs a scope that allows writes, or none in particular. */
type ScopeFor<M extends Method> = [M] extends ['GET']
  ? Operation['scope']
  : WritingScope | readonly [WritingScope, ...Scope[]] | 'any' | null;

type WritingScope = Exclude<Scope, `${string}:read`>;

/** The names of the parameters in a path template. */
type ParamIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamIn<Rest>
  : never;

/** `params` must define the parameters of the path, and no others. */
type ParamsOf<Path extends string> = [ParamIn<Path>] extends [never]
  ? { params?: never }
  : {
      params: {
        properties: Record<ParamIn<Path>, Schema>;
        required: readonly ParamIn<Path>[];
        additionalProperties: false;
      };
    };

/** The reply must have no fields that its schema does not define. */
type ExactReply<R extends Reply, S extends Success> = {
  handler: Exactly<BodyOf<R>, BodyOf<ReplyOf<S>>>;
};

/** The body of a reply, or an item of its page. */
type BodyOf<R extends Reply> = R extends { body: infer Body }
  ? Body
  : R extends PageReply<infer Item>
    ? Item
    : never;

/** The context of a handler whose types are erased. The input was checked against the schemas. */
export type AnyContext = Context<never, never, never>;

/** A route as the server and the document see it. */
export interface Route extends Operation {
  cost?: (body: never) => number;
  longestWait?: number;
  prepare?: (context: AnyContext) => Promise<void>;
  writesAlone?: boolean;
  locks?: (input: { params: never; body: never }) => readonly string[];
  handler: (context: AnyContext) => Promise<Reply>;
  rejectReplay?: (context: AnyContext, outcome: object) => void;
}

/**
 * Defines an operation: the server and the OpenAPI document are built from it. The handler of the route throws when its reply has a
 * field that the schema does not define and that the compiler could not see.
 */
export function defineRoute<
  M extends Method,
  const Path extends string,
  R extends ReplyOf<S>,
  const P extends Schema = Nothing,
  const Q extends Schema = Nothing,
  const B extends Schema = Nothing,
  const S extends Success = Success,
>(definition: RouteDefinition<M, Path, P, Q, B, S, R> & ParamsOf<Path> & ExactReply<R, S>): Route {
  const route = definition as Route;
  const { schema } = definition.success;
  if (!schema) return route;
  const check = fieldCheckOf(schema.items ?? schema);
  const checked = (reply: Reply) => {
    if (reply.kind === 'page') for (const item of reply.page.items) check(item);
    else if ('body' in reply) check(reply.body);
    return reply;
  };
  return { ...route, handler: context => route.handler(context).then(checked) };
}
