import type { Callback } from '../../contract/operation.ts';
import { parametersIn } from './parameters.ts';
import type { NamedSchemas } from './schemas.ts';

/** The requests that the service sends to the client's server because of an operation, by name. */
export function callbacksOf(callbacks: Readonly<Record<string, Callback>>, schemas: NamedSchemas): object {
  return Object.fromEntries(
    Object.entries(callbacks).map(
      ([name, { url, summary, description, headers, mediaType, body, responses }]) => [
        name,
        {
          [url]: {
            post: {
              summary,
              description,
              // The signature authenticates the service.
              security: [],
              parameters: parametersIn('header', headers, schemas),
              requestBody: {
                required: true,
                content: { [mediaType]: { schema: schemas.publish(body) } },
              },
              responses: Object.fromEntries(
                Object.entries(responses).map(([status, meaning]) => [status, { description: meaning }]),
              ),
            },
          },
        },
      ],
    ),
  );
}
