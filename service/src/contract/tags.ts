/** The navigation of the contract: groups that hold no operations of their own, and the tags below them. */
export const tagGroups = {
  Pets: 'The animals of the shop and the categories they belong to.',
  Store: 'Selling: orders and stock.',
  Platform: 'The service itself: access to it and its state.',
} as const;

export const tags = {
  Animals: { parent: 'Pets', description: 'The animals offered for sale.' },
  Categories: { parent: 'Pets', description: 'What animals are grouped by.' },
  Orders: { parent: 'Store', description: 'Orders for pets, from draft to fulfilled.' },
  Inventory: { parent: 'Store', description: 'The stock of each pet.' },
  Account: { parent: 'Platform', description: 'The API key that asks: its plan, its limits and their use.' },
  'API keys': { parent: 'Platform', description: 'Who may call the service, under which plan.' },
  Events: { parent: 'Platform', description: 'Every change of a resource, in order: to poll, or to follow.' },
  Webhooks: {
    parent: 'Platform',
    description: 'Events sent to you, signed as Standard Webhooks 1.0.0 says, in order for each subject.',
  },
  Service: {
    parent: 'Platform',
    description: 'Health, readiness and the contract itself. No API key needed.',
  },
} as const satisfies Record<string, { parent: keyof typeof tagGroups; description: string }>;

export type Tag = keyof typeof tags;
