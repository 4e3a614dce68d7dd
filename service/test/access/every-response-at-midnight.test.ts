import { testEveryResponse } from './responses/walk.ts';

// Shortly before the minute, the day and the month end together.
testEveryResponse('2031-01-31T23:59:50Z');
