import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyKind } from '../contract/key-kinds.ts';
import type { Scope } from '../contract/scopes.ts';
import type { Queries, Writer } from '../db/database.ts';
import { type AddressRanges, shownAddress } from '../kit/client-address.ts';
import { guardOf } from './conditional.ts';
import { closeOf, signalOf } from './wait-signal.ts';

/** A client with a valid API key. */
export interface Caller {
  keyId: number;
  kind: KeyKind;
  scopes: ReadonlySet<Scope>;
  /** The origins whose pages can use a publishable key; null for other keys. */
  origins: readonly string[] | null;
  /** The networks from which the key can be used; null for all. */
  networks: AddressRanges | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Milliseconds since the Unix epoch; 0 before the gate. */
    receivedAt: number;
    /** `undefined` without a valid API key. */
    caller: Caller | undefined;
    /** The address of the client; empty if it disconnected at once. */
    address: string;
  }
}

/** What a context reads from its request. */
type RequestFacts = Pick<FastifyRequest, 'receivedAt' | 'caller' | 'address' | 'headers' | 'server'>;

/**
 * The input of a handler, after the gate and the checks of the input. One per request. Values that few handlers read are
 * getters of the class: a getter in an object literal would create a hidden class for each request.
 */
export class Context<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** When the request was received, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** The store. Events of changes through it have the request as their cause. */
  readonly db: Queries & Writer;
  readonly #request: RequestFacts;
  readonly #reply: FastifyReply;

  constructor(
    request: RequestFacts,
    reply: FastifyReply,
    params: Params,
    query: Query,
    body: Body,
    db: Queries & Writer,
  ) {
    this.params = params;
    this.query = query;
    this.body = body;
    this.now = request.receivedAt;
    this.db = db;
    this.#request = request;
    this.#reply = reply;
  }

  /** The same request with the transaction `tx` as its store. */
  within(tx: Queries & Writer): Context<Params, Query, Body> {
    return new Context(this.#request, this.#reply, this.params, this.query, this.body, tx);
  }

  /** The same request with another query. */
  withQuery(query: Query): Context<Params, Query, Body> {
    return new Context(this.#request, this.#reply, this.params, query, this.body, this.db);
  }

  /** The context of an operation that is part of this request, and has input and conditions of its own. */
  part<P, B>(params: P, body: B, headers: IncomingHttpHeaders, tx: Queries & Writer): Context<P, object, B> {
    const { receivedAt, caller, address, server } = this.#request;
    return new Context({ receivedAt, caller, address, server, headers }, this.#reply, params, {}, body, tx);
  }

  /** Throws in an operation that needs no API key. */
  get caller(): Caller {
    const { caller } = this.#request;
    if (!caller) throw new Error('An operation without a scope has no caller');
    return caller;
  }

  /** The address of the client, for operations that count against it; null if it disconnected at once. */
  get address(): string | null {
    return shownAddress(this.#request.address);
  }

  /** Throws `precondition_failed` unless `current` meets the conditions in If-Match and If-None-Match. */
  get guard(): (current: object) => void {
    return guardOf(this.#request.headers);
  }

  /** Aborts when the response can no longer be sent: long work ends then. */
  get closed(): AbortSignal {
    return closeOf(this.#reply);
  }

  /** Aborts when the client disconnects, and when the service shuts down: waits end then. */
  get signal(): AbortSignal {
    return signalOf(this.#request, this.#reply);
  }

  /** The header `Last-Event-ID` of a client that continues a stream; `undefined` when it is missing or empty. */
  get lastEventId(): string | undefined {
    const header = this.#request.headers['last-event-id'];
    return typeof header === 'string' && header !== '' ? header : undefined;
  }
}
