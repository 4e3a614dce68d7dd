import type { Callback } from '../../contract/operation.ts';
import { inWords } from '../../kit/quantities.ts';
import { CLOUD_EVENT } from '../event-log/event.ts';
import type { EventUnion } from '../event-log/event-kind.ts';
import { RESPONSE_TIMEOUT, SCHEDULE } from './delivery-rules.ts';

const headers = {
  type: 'object',
  required: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  properties: {
    'webhook-id': {
      type: 'string',
      maxLength: 64,
      example: 'msg_1_1042',
      description:
        'The same each time the event is sent to this webhook: ignore a message whose ID you have processed.',
    },
    'webhook-timestamp': {
      type: 'integer',
      format: 'int64',
      minimum: 0,
      example: 1_795_262_400,
      description:
        'When the message was sent, in Unix seconds. Reject a message whose time is minutes away from yours.',
    },
    'webhook-signature': {
      type: 'string',
      maxLength: 200,
      example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
      description:
        '`v1,` and the base64 of the HMAC-SHA-256 of `{webhook-id}.{webhook-timestamp}.{body}`, whose key is the base64 ' +
        'after `whsec_` in the secret. While an earlier secret is valid, there are two signatures with a space between them: ' +
        'accept the message if one of them matches.',
    },
    traceparent: {
      type: 'string',
      maxLength: 55,
      example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      description: 'The trace of the request that made the change, if there is one. It is not signed.',
    },
  },
} as const;

/** The request that a webhook receives. `event` is the schema of events. */
export function eventCallback(event: EventUnion): Callback {
  return {
    url: '{$request.body#/url}',
    summary: 'An event for the webhook',
    description:
      'The same bytes as in `GET /events`, with the headers and signatures of Standard Webhooks 1.0.0. Verify the signature ' +
      `before you use the body, and respond within ${inWords(RESPONSE_TIMEOUT)}, as soon as you have stored the event. A message ` +
      'can arrive more than once.',
    headers,
    mediaType: CLOUD_EVENT,
    body: event,
    responses: {
      '2XX': 'The event was accepted. The body of the response is ignored.',
      '3XX': 'A failure, like every status that is not listed here. The service follows no redirect.',
      '410': 'The endpoint is gone: the service disables the webhook, and sends nothing more.',
      '429': 'Try again later, not before the time in `Retry-After`. The same applies to 503.',
      default:
        `A failure, like a response that takes longer than ${inWords(RESPONSE_TIMEOUT)}, or none. The service tries again after ` +
        `${SCHEDULE}; then the delivery is \`dead\`.`,
    },
  };
}
