import { one, type Queries } from '../../db/database.ts';

/** Higher than the number of every event. */
const FIRST_STEP = 2 ** 53;

/**
 * Returns the number of the last event before `time`, in milliseconds since the Unix epoch; 0 if there is none. Numbers are in
 * the order of time, except where concurrent changes or a clock that was set back swapped them. The search compares about 50
 * events, and these depend on `time` alone, not on the length of the log. So the periods before and after a time share no
 * event, and no event is in neither. Events that have expired count as before `time`. A number between two ranges counts as the
 * last event of the first one, so the result can be the number before a range, which is a valid position.
 */
export async function positionBefore(db: Queries, time: number): Promise<number> {
  const { position } = await one<{ position: number }>(
    db,
    `WITH RECURSIVE search (position, step) AS (
       SELECT CAST(0 AS BIGINT), CAST(? AS BIGINT)
       UNION ALL
       SELECT CASE
           WHEN position + step <= (SELECT max(id) FROM events) AND NOT EXISTS (
             SELECT 1 FROM (SELECT time FROM events WHERE id <= position + step ORDER BY id DESC LIMIT 1) AS last_event
             WHERE time >= ?
           ) THEN position + step
           ELSE position
         END, step / 2
       FROM search WHERE step > 0
     )
     SELECT position FROM search WHERE step = 0`,
    [FIRST_STEP, time],
  );
  return position;
}
