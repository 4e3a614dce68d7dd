import type { ErrorCode } from './error-catalogue.ts';
import type { Schema } from './schema.ts';
import type { Scope } from './scopes.ts';
import type { Tag } from './tags.ts';

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export type Method = (typeof methods)[number];

/** `experimental` may change at any time, `beta` only with a changelog entry. Stable operations have none. */
type Stability = 'experimental' | 'beta';

interface Deprecation {
  /** The day of the deprecation, YYYY-MM-DD: `Deprecation` (RFC 9745) has its midnight in UTC. */
  since: string;
  /** The first day on which the operation returns 410, YYYY-MM-DD: `Sunset` (RFC 8594) has its midnight in UTC. */
  sunset: string;
  /** What to use instead: a URL, or a method and a URL if its method is another one. A template with the path's parameters. */
  successor: string;
}

/** The success response of an operation. */
export interface Success {
  status: 200 | 201 | 204;
  description: string;
  schema?: Schema;
  example?: unknown;
  /** The media type if it is not JSON. */
  mediaType?: string;
  /** The operation that reads what a 201 created, and its parameters as runtime expressions of OpenAPI. */
  read?: { operationId: string; parameters: Readonly<Record<string, string>> };
  /** Whether the response is sent in the encoding that `Accept-Encoding` prefers. */
  isCompressed?: boolean;
}

/** The ID of the resource in a response, as a runtime expression of OpenAPI. */
export const CREATED_ID = '$response.body#/id';

/** A POST request that the service sends to a client's server. */
export interface Callback {
  /** A runtime expression of OpenAPI, such as `{$request.body#/url}`. */
  url: string;
  /** One line. */
  summary: string;
  /** Rules and consequences, in CommonMark. */
  description: string;
  headers: Schema;
  mediaType: string;
  body: Schema;
  /** The meaning of each status that the server can return. */
  responses: Readonly<Record<string, string>>;
}

/** An operation as the contract describes it. */
export interface Operation {
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
   * The scope, or all the scopes, that the caller's key needs. `any` allows every valid key. `null` needs no key and uses no
   * quota.
   */
  scope: Scope | readonly Scope[] | 'any' | null;
  /** Scopes of which the caller's key needs at least one in addition. */
  anyOfScopes?: readonly Scope[];
  /**
   * `account` if requests count against a separate limit that each key has for reading its account; `address` if requests
   * that need no key count against the address of the client.
   */
  countedBy?: 'account' | 'address';
  params?: Schema;
  query?: Schema;
  /** The headers that only this operation reads. They are documented here, and the handler checks them. */
  headers?: Schema;
  body?: Schema;
  /** Fields that clients expect in the body, with the operation that sets them, for the message of the rejection. */
  setElsewhere?: Readonly<Record<string, string>>;
  /** The maximum size of the body in bytes if it is not `BODY_LIMIT`. */
  bodyLimit?: number;
  /** Whether a missing body means `{}`. */
  bodyOptional?: boolean;
  /** The published schemas of the body if they are narrower than `body`. One of them must match. */
  publishedBody?: readonly Schema[];
  /** An example request body. */
  example?: object;
  success: Success;
  /** Whether the resource of this operation has an ETag, and requests may be conditional. */
  conditional?: boolean;
  /** Fields of the created resource that are returned once: a replay under an Idempotency-Key omits them. */
  shownOnce?: readonly string[];
  /** The error codes of the operation, in addition to those that follow from its definition. */
  errors: readonly ErrorCode[];
  /** A header that only errors of this operation have. */
  errorHeader?: 'X-Failed-Operation';
  /** The requests that the service sends to the client's server because of this operation, by name. */
  callbacks?: Readonly<Record<string, Callback>>;
  deprecation?: Deprecation;
  stability?: Stability;
  /** Hides the interactive form of the portal. */
  hideTryIt?: boolean;
}

/** The scopes that a key needs for an operation. It needs all of them. */
export function requiredScopes(scope: Operation['scope']): readonly Scope[] {
  if (scope === null || scope === 'any') return [];
  return typeof scope === 'string' ? [scope] : scope;
}
