/** An invalid setting. The message names the variable and states its valid values. */
export class ConfigError extends Error {}
