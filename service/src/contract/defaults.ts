/** What the contract states of settings: their values unless the operator sets others. */

/** For how many days events are kept, and deliveries of webhooks that are finished. */
export const EVENT_DAYS = 30;

/** The most webhooks that belong to one API key. */
export const WEBHOOKS_PER_KEY = 20;
