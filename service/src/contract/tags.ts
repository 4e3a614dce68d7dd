/** The navigation of the contract: groups, and below them the tags of the operations. */
export const tagGroups = {
  Pets: 'The animals of the shop and their categories.',
  Store: 'Orders and stock.',
  Platform: 'The service itself: access, events and health.',
} as const;

export const tags = {
  Animals: { parent: 'Pets', description: 'The animals offered for sale.' },
  Categories: { parent: 'Pets', description: 'Groups of animals.' },
  Orders: { parent: 'Store', description: 'Orders for pets, from draft to fulfilled.' },
  Inventory: { parent: 'Store', description: 'The stock of each pet.' },
  Batches: {
    parent: 'Store',
    description: 'Several changes of pets, categories, orders and stock in one request.',
  },
  Account: { parent: 'Platform', description: 'The calling API key: its plan, its limits and their usage.' },
  'API keys': {
    parent: 'Platform',
    description: 'The API keys that may call the service, with their plans and scopes.',
  },
  Events: {
    parent: 'Platform',
    description: 'Every change of a resource, in order: as pages or as a stream.',
  },
  Webhooks: {
    parent: 'Platform',
    description:
      'Events sent to your URL, signed according to Standard Webhooks 1.0.0, in order for each subject.',
  },
  Service: {
    parent: 'Platform',
    description: 'Health, readiness and this contract. No API key required.',
  },
} as const satisfies Record<string, { parent: keyof typeof tagGroups; description: string }>;

export type Tag = keyof typeof tags;
