/** Upper bounds in seconds. A read takes about 100 µs and a durable write a few milliseconds, so the scale starts low. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Methods that get their own label. The parser accepts about thirty more, and any client can send them. */
const NAMED_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const NAME = 'http_request_duration_seconds';

interface Series {
  labels: string;
  /** The observations between a bound and the one before it; the last bucket is above all bounds. */
  buckets: number[];
  sum: number;
}

/**
 * The durations of requests, by method, route and status. The histogram of prom-client builds a text of all labels with each
 * observation, which would cost one more microsecond per request.
 */
export class RequestDurations {
  readonly #series = new Map<string, Map<string, Map<number, Series>>>();

  /** `route` is a path template; null for a path or method that does not exist. */
  observe(method: string, route: string | null, status: number, seconds: number): void {
    const series = this.#seriesOf(NAMED_METHODS.has(method) ? method : 'other', route ?? 'none', status);
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > BOUNDS[bucket]!) bucket++;
    series.buckets[bucket]!++;
    series.sum += seconds;
  }

  /** Returns the histogram in the Prometheus text format. */
  text(): string {
    const lines = [
      `# HELP ${NAME} Time from the head of a request to the end of its response, by path template.`,
      `# TYPE ${NAME} histogram`,
    ];
    for (const routes of this.#series.values()) {
      for (const statuses of routes.values()) {
        for (const series of statuses.values()) lines.push(...linesOf(series));
      }
    }
    return `${lines.join('\n')}\n`;
  }

  #seriesOf(method: string, route: string, status: number): Series {
    const statuses = entry(
      entry(this.#series, method, () => new Map()),
      route,
      () => new Map<number, Series>(),
    );
    return entry(statuses, status, () => ({
      labels: `method="${method}",route="${route}",status="${status}"`,
      buckets: new Array(BOUNDS.length + 1).fill(0),
      sum: 0,
    }));
  }
}

function* linesOf({ labels, buckets, sum }: Series): Generator<string> {
  let count = 0;
  for (const [place, inBucket] of buckets.entries()) {
    count += inBucket;
    yield `${NAME}_bucket{${labels},le="${BOUNDS[place] ?? '+Inf'}"} ${count}`;
  }
  yield `${NAME}_sum{${labels}} ${sum}`;
  yield `${NAME}_count{${labels}} ${count}`;
}

function entry<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
