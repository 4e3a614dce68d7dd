import { type ErrorCode, errorCatalogue } from '../../contract/error-catalogue.ts';
import { MERGE_PATCH } from '../../contract/media-types.ts';
import { requiredScopes } from '../../contract/operation.ts';
import type { Schema } from '../../contract/schema.ts';
import { scopesInWords } from '../../contract/scopes.ts';
import { mergePatch } from '../../kit/merge-patch.ts';
import type { Route } from '../../routes/define-route.ts';
import { callbacksOf } from './callbacks.ts';
import { type HeaderName, headers } from './headers.ts';
import { parametersIn } from './parameters.ts';
import { errorResponseOf, isShared, responseName } from './responses.ts';
import type { NamedSchemas, PublishedSchema } from './schemas.ts';

type AnyRoute = Omit<Route, 'handler'>;

/** One operation of the document. */
export function operationOf(route: AnyRoute, schemas: NamedSchemas): object {
  const { deprecation, stability, hideTryIt } = route;
  const parameters = parametersOf(route, schemas);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: descriptionOf(route),
    ...(deprecation && {
      deprecated: true,
      'x-deprecated-since': deprecation.since,
      'x-deprecated-sunset': deprecation.sunset,
      'x-deprecated-successor': deprecation.successor,
    }),
    ...(stability && { 'x-stability': stability }),
    ...(hideTryIt && { 'x-hideTryItPanel': true }),
    security: route.scope === null ? [] : [{ apiKey: [] }, { bearer: [] }],
    ...(requiredScopes(route.scope).length > 0 && { 'x-required-scopes': requiredScopes(route.scope) }),
    ...(route.anyOfScopes && { 'x-required-scopes-any-of': route.anyOfScopes }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && { requestBody: requestBodyOf(route, route.body, schemas) }),
    responses: { ...successOf(route, schemas), ...errorsOf(route, schemas) },
    ...(route.callbacks && { callbacks: callbacksOf(route.callbacks, schemas) }),
  };
}

function descriptionOf({ description, scope, anyOfScopes, deprecation }: AnyRoute): string {
  const parts = [description];
  if (scope === 'any') parts.push('Requires an API key with any scope.');
  const scopes = requiredScopes(scope);
  const more = anyOfScopes ? `, and one of the ${scopesInWords(anyOfScopes)}` : '';
  if (scopes.length > 0) parts.push(`Requires the ${scopesInWords(scopes)}${more}.`);
  if (deprecation)
    parts.push(`Deprecated: returns 410 from ${deprecation.sunset}. Use \`${deprecation.successor}\`.`);
  return parts.join('\n\n');
}

function parametersOf(route: AnyRoute, schemas: NamedSchemas): object[] {
  const shared = sharedParameters(route).map(name => ({ $ref: `#/components/parameters/${name}` }));
  return [
    ...parametersIn('path', route.params, schemas),
    ...parametersIn('query', route.query, schemas),
    ...parametersIn('header', route.headers, schemas),
    ...shared,
  ];
}

function sharedParameters(route: AnyRoute): string[] {
  const { method, conditional, scope } = route;
  const names = ['ApiVersion', 'RequestId'];
  if (method === 'POST' && scope !== null) names.push('IdempotencyKey');
  if (conditional && method === 'GET') names.push('IfNoneMatch');
  if (hasState(route)) names.push('IfMatch');
  return names;
}

/** Whether If-Match guards the operation, because it reads or changes a resource that exists. */
function hasState({ conditional, success }: AnyRoute): boolean {
  return conditional === true && success.status !== 201;
}

function requestBodyOf(route: AnyRoute, body: Schema, schemas: NamedSchemas): object {
  const shapes = (route.publishedBody ?? [body]).map(shape => schemas.publish(shape));
  const schema = shapes.length === 1 ? shapes[0] : { anyOf: shapes };
  const media = { schema, example: route.example ?? body.example };
  const content: Record<string, object> = { 'application/json': media };
  if (route.method === 'PATCH') content[MERGE_PATCH] = media;
  return { required: !route.bodyOptional, content };
}

function successOf(route: AnyRoute, schemas: NamedSchemas): Record<string, object> {
  const { status, description, schema, mediaType = 'application/json', isCompressed, read } = route.success;
  const names: HeaderName[] = [...lifecycleHeaders(route)];
  const isResource = route.conditional && status !== 204;
  // A list has the ETag of its only resource.
  const optional: HeaderName[] = isResource && schema?.type === 'array' ? ['ETag'] : [];
  if (isResource && optional.length === 0) names.push('ETag');
  if (mediaType === 'text/event-stream') names.push('X-Accel-Buffering');
  if (isCompressed) names.push('Content-Encoding');
  if (status === 201) names.push('Location');
  if (route.method === 'POST' && route.scope !== null) names.push('Idempotency-Replayed');
  if (route.method !== 'GET') names.push('X-Test');
  if (schema?.type === 'array' && !names.includes('Link')) names.push('Link');
  if (route.query?.properties?.count) names.push('X-Total-Count', 'X-Total-Count-Relation');
  const published: PublishedSchema = schema
    ? schemas.publish(schema)
    : { type: mediaType === 'application/json' ? 'object' : 'string' };
  const responses: Record<string, object> = {
    [status]: {
      description,
      headers: headers(names, optional),
      ...(status !== 204 && {
        content: { [mediaType]: { schema: published, ...exampleOfSuccess(route) } },
      }),
      ...(read && {
        links: { [read.operationId]: { ...read, description: 'The same resource, read again.' } },
      }),
    },
  };
  if (isResource && route.method === 'GET') {
    responses['304'] = {
      description: 'The resource still has the ETag in If-None-Match.',
      headers: headers([...lifecycleHeaders(route), 'ETag']),
    };
  }
  return responses;
}

/** The example of a PATCH is the resource after the example of its body. */
function exampleOfSuccess({ method, body, example: sent, success }: AnyRoute): { example?: unknown } {
  const example = success.example ?? success.schema?.example;
  if (example === undefined) return {};
  const patch = sent ?? body?.example;
  return { example: method === 'PATCH' ? mergePatch(example as object, patch as object) : example };
}

function lifecycleHeaders({ stability, deprecation }: AnyRoute): HeaderName[] {
  const names: HeaderName[] = [];
  if (stability) names.push('X-Stability');
  if (deprecation) names.push('Deprecation', 'Sunset', 'Link');
  return names;
}

/** Whether errors of the operation have no headers that those of other operations lack. */
function hasSharedErrors({ errorHeader, deprecation }: AnyRoute): boolean {
  return errorHeader === undefined && deprecation === undefined;
}

function ownErrorHeaders(route: AnyRoute): HeaderName[] {
  return route.errorHeader ? [...lifecycleHeaders(route), route.errorHeader] : lifecycleHeaders(route);
}

/** Every error code that the operation can return, including those that follow from its definition. */
function errorCodesOf(route: AnyRoute): ErrorCode[] {
  const { scope, countedBy, method, deprecation } = route;
  const codes: ErrorCode[] = [
    'invalid_request',
    'unsupported_api_version',
    'uri_too_long',
    'request_timeout',
    'headers_too_large',
    'service_unavailable',
    'too_many_connections',
  ];
  if (scope !== null) {
    codes.push(
      'missing_api_key',
      'invalid_api_key',
      'insufficient_scope',
      'origin_not_allowed',
      'address_not_allowed',
    );
    codes.push('rate_limit_exceeded');
    if (countedBy !== 'account') codes.push('api_key_banned');
    codes.push('not_acceptable');
  } else if (countedBy === 'address') codes.push('rate_limit_exceeded', 'not_acceptable');
  if (method !== 'GET') codes.push('payload_too_large', 'unsupported_media_type');
  if (method === 'GET' || hasState(route)) codes.push('precondition_failed');
  if (method === 'POST' && scope !== null) codes.push('idempotency_key_in_use', 'idempotency_key_reused');
  if (deprecation) codes.push('operation_sunset');
  return [...codes, ...route.errors, 'internal_error'];
}

/** The error responses by status: references to shared ones, and the full text of others. */
function errorsOf(route: AnyRoute, schemas: NamedSchemas): Record<string, object> {
  const byStatus = Map.groupBy(errorCodesOf(route), code => errorCatalogue[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      hasSharedErrors(route) && isShared(status, codes)
        ? { $ref: `#/components/responses/${responseName(status)}` }
        : errorResponseOf(status, codes, ownErrorHeaders(route), schemas),
    ]),
  );
}
