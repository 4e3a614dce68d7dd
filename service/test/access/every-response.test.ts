import { testEveryResponse } from './responses/walk.ts';

// In the middle of a minute, after the sunset of an operation.
testEveryResponse('2031-01-01T12:00:30Z');
