export type { ApiResponse, Call } from './call.ts';
export {
  type Client,
  type ClientOptions,
  createClient,
  type SentRequest,
} from './client.ts';
export type * from './contract.ts';
export {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  type ErrorDetails,
  errorOf,
  GoneError,
  NotFoundError,
  NotModified,
  PermissionError,
  PetStoreError,
  PreconditionError,
  RateLimitError,
  ServerError,
  ValidationError,
  WaitTooLongError,
} from './errors.ts';
export { type Limits, limitsOf, type WindowState } from './limits.ts';
export type { List, Page } from './list.ts';
export { type ObservedOptions, type ObservedRequest, observed, type ReceivedResponse } from './observe.ts';
export type { Wait, WaitReason } from './pacer.ts';
export { PetStore } from './pet-store.ts';
export type { UsedQuota } from './quotas.ts';
export type { CallOptions, PostOptions } from './request.ts';
export type { Batch, BatchEntry, BatchId, BatchOptions, BatchOutcome } from './resources/batch.ts';
export type { EventFilter, Subscription } from './subscribe.ts';
export { VERSION } from './version.ts';
