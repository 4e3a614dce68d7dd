/** A tool as the model sees it. All definitions are part of each conversation: a test counts their tokens. */
export interface Definition {
  description: string;
  properties: Record<string, object>;
  required?: readonly string[];
  /** Whether the tool changes nothing, so that an agent need not ask its user. */
  readOnly: boolean;
}

const text = (description: string) => ({ type: 'string', description });

export const tools = {
  search: {
    description:
      'Finds operations of the pet store: pets, categories, orders, stock, API keys, events, webhooks. Without words it lists all of them.',
    properties: { words: text('For example: change stock') },
    readOnly: true,
  },
  describe: {
    description:
      'Describes an operation: its parameters, body, result, errors, and the scope that the API key needs.',
    properties: { operation: text('As search names it: GET /pets') },
    required: ['operation'],
    readOnly: true,
  },
  read: {
    description:
      'Executes a GET. A list is cut: pass its nextCursor as cursor, with the same path, to read on.',
    properties: {
      path: text('With its values and query: /pets?status=available&limit=5'),
      cursor: { type: 'string' },
    },
    required: ['path'],
    readOnly: true,
  },
  write: {
    description: 'Executes an operation that changes data, once, and states what it has changed.',
    properties: {
      method: { type: 'string', enum: ['POST', 'PUT', 'PATCH', 'DELETE'] },
      path: text('With its values: /pets/4'),
      body: { type: 'object' },
      ifMatch: text('The etag of a result: changes only what is still the same'),
      idempotencyKey: text(
        'Only to repeat a write whose outcome is unknown, within 23 hours: that of the error',
      ),
    },
    required: ['method', 'path'],
    readOnly: false,
  },
} satisfies Record<string, Definition>;
