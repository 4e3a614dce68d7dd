import { ApiError } from '../contract/errors.ts';
import type { Route } from '../routes/define-route.ts';
import type { Remedies } from './faults.ts';
import { bodyReader, textReader } from './validate.ts';

/** The path parameters and the body of an operation, after the checks. */
export interface RouteInput {
  params: object;
  body: object;
}

/** The body of an operation that has none. */
const nothing = Object.freeze({});

/**
 * Returns a function that checks the path parameters and the body of an operation against its schemas. `json` is the text of the
 * body, which messages quote. The function throws `invalid_request`.
 */
export function inputReader(
  route: Route,
): (params: Record<string, unknown>, body: unknown, json?: string) => RouteInput {
  const readParams = textReader(route.params ?? { type: 'object' }, 'path parameter');
  const readBody = route.body ? bodyReader(route.body, route.bodyOptional, remediesOf(route)) : rejectBody;
  return (texts, sent, json) => {
    const params = readParams(texts);
    const body = readBody(sent, json);
    return { params, body };
  };
}

/** Some HTTP libraries send `{}` or `null` for no body. */
function rejectBody(sent: unknown): object {
  if (sent !== undefined && Object.keys(Object(sent)).length > 0)
    throw new ApiError('invalid_request', 'The operation has no body: leave it out');
  return nothing;
}

/** Remedies for the fields of the resource that the body of the route does not have. */
function remediesOf({ success, setElsewhere }: Route): Remedies {
  const fields = Object.keys(success.schema?.properties ?? {});
  return { ...Object.fromEntries(fields.map(name => [name, 'leave it out'])), ...setElsewhere };
}

/** An `id` in the body of a PUT or PATCH is optional and read-only: it must equal the ID in the path. */
export function rejectOtherId({ method }: Route, { params, body }: RouteInput): void {
  if (method === 'POST' || !('id' in body)) return;
  const [pathId] = Object.values(params);
  if (body.id !== pathId) {
    throw new ApiError(
      'invalid_request',
      `Field \`id\` must equal the ID in the path, ${pathId}, but was ${body.id}`,
    );
  }
}
