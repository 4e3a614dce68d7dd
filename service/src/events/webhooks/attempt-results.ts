/** How attempts end. */
export const attemptResults = ['delivered', 'rejected', 'timeout', 'unreachable', 'withheld'] as const;

/** `rejected` by the status of the answer; `unreachable` when the connection failed; `withheld` when it was not sent. */
export type AttemptResult = (typeof attemptResults)[number];
