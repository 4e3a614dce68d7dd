/**
 * Loaded into the service by `--import`. Measures allocations on the heap of V8: its growth between two garbage collections and
 * since the last one. Memory outside the heap, such as that of large buffers, is not included.
 */
import v8 from 'node:v8';

let profiler = started();
/** Bytes in use when the profiler was started. */
let used = v8.getHeapStatistics().used_heap_size;

function started(): v8.GCProfiler {
  const profiler = new v8.GCProfiler();
  profiler.start();
  return profiler;
}

/** Replies to each message with the bytes that were allocated since the message before. */
process.on('message', () => {
  let allocated = 0;
  for (const { beforeGC, afterGC } of profiler.stop()?.statistics ?? []) {
    allocated += beforeGC.heapStatistics.usedHeapSize - used;
    used = afterGC.heapStatistics.usedHeapSize;
  }
  const now = v8.getHeapStatistics().used_heap_size;
  process.send?.(allocated + now - used);
  profiler = started();
  used = now;
});
process.channel?.unref();
