import { type EventEmitter, once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

export async function examples(emitter: EventEmitter | undefined, report: () => void): Promise<void> {
  await rm('x');
  void rm('x');
  rm('x').catch(report);
  rm('x').then(report, report);
  rm('x').catch(report).finally(report);
  emitter && once(emitter, 'x').catch(report);
  let last = rm('x');
  last = delay(1);
  await last;
  // Found: nothing sees when this promise rejects
  rm('x');
  // Found: nothing sees when this promise rejects
  delay(1);
  // Found: nothing sees when this promise rejects
  rm('x').then(report);
  // Found: nothing sees when this promise rejects
  rm('x').finally(report);
  // Found: nothing sees when this promise rejects
  emitter && once(emitter, 'x');
  // Found: nothing sees when this promise rejects
  last;
}
