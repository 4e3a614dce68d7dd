/**
 * The result of an attempt: `rejected` if the endpoint returned an error status, `unreachable` if the connection failed,
 * `withheld` if nothing was sent.
 */
export type AttemptResult = 'delivered' | 'rejected' | 'timeout' | 'unreachable' | 'withheld';
