/**
 * How an attempt ended: `rejected` by the status of the answer, `unreachable` when the connection failed, `withheld` when it
 * was not sent.
 */
export type AttemptResult = 'delivered' | 'rejected' | 'timeout' | 'unreachable' | 'withheld';
