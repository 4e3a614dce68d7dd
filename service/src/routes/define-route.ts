import type { Operation, Success } from '../contract/operation.ts';
import type { Schema } from '../contract/schema.ts';
import type { Static } from '../contract/static.ts';
import type { Context } from './context.ts';
import type { Reply, ReplyOf } from './reply.ts';

/** The schema of missing parameters, or of a missing body. */
type Nothing = { type: 'object' };

/** An operation with its handler, whose input and reply have the types of the schemas. */
export interface RouteDefinition<P extends Schema, Q extends Schema, B extends Schema, S extends Success>
  extends Operation {
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
  /** Runs before the handler and outside of its transaction, for work that waits for something other than the store. */
  prepare?: (context: Context<Static<P>, Static<Q>, Static<B>>) => Promise<void>;
  /** Whether the transaction of the handler takes long (`WriteOptions`). */
  writesAlone?: boolean;
  /**
   * The locks of the handler that follow from its input. A batch takes those of all its operations at once, so that two batches with the
   * same resources do not wait for each other in a circle.
   */
  locks?: (input: { params: Static<P>; body: Static<B> }) => readonly string[];
  handler: (context: Context<Static<P>, Static<Q>, Static<B>>) => Promise<ReplyOf<S>>;
  /**
   * Throws if the caller may no longer get the stored outcome of its earlier request. Only for operations whose rights depend on
   * their input; the gate checks the others.
   */
  rejectReplay?: (context: Context<Static<P>, Static<Q>, Static<B>>, outcome: object) => void;
}

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

/** Defines an operation: the server and the OpenAPI document are built from it. */
export function defineRoute<
  const P extends Schema = Nothing,
  const Q extends Schema = Nothing,
  const B extends Schema = Nothing,
  const S extends Success = Success,
>(definition: RouteDefinition<P, Q, B, S>): Route {
  return definition as Route;
}
