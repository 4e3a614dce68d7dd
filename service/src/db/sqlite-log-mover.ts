/** The thread that moves the WAL of a store into its database. `workerData` is the path of the database. */
import { parentPort, workerData } from 'node:worker_threads';
import BetterSqlite3 from 'better-sqlite3';

/** Sends a message when the log is moved. A failure ends the thread. */
parentPort!.on('message', () => {
  const connection = new BetterSqlite3(workerData, { fileMustExist: true });
  try {
    connection.pragma('wal_checkpoint(PASSIVE)');
  } finally {
    connection.close();
  }
  parentPort!.postMessage('moved');
});
