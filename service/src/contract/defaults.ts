/** Defaults of settings that the contract mentions. */

/** The number of days for which events and finished webhook deliveries are retained. */
export const EVENT_DAYS = 180;

/** The maximum number of webhooks of one API key. */
export const WEBHOOKS_PER_KEY = 20;
