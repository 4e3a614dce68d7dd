import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { BatchOperation } from '@petstore/client';
import { ImportError } from '../failure.ts';

/** What an import has to do with the next rows of the file. */
export interface Batch {
  /** The number of rows. */
  rows: number;
  /** The lines of the first and the last row. */
  lines: readonly [number, number];
  operations: BatchOperation[];
  /** For each pet of the operations, the index of its row. */
  pets: number[];
  /** The rows that are not sent. */
  rejections: { row: number; code: string; message: string }[];
  /** The number of rows whose pets exist. */
  existing: number;
}

/** A batch that was sent, and whose response did not arrive yet. */
export interface SentBatch extends Batch {
  idempotencyKey: string;
  /** When it was sent first, by the clock of this machine. */
  sentAt: string;
}

/** What must be the same when an import is continued. */
export interface Identity {
  url: string;
  sha256: string;
  map: readonly string[];
  format: string;
  encoding: string;
  createCategories: boolean;
  skipExisting: boolean;
  raw: boolean;
}

/** The progress of an import. Rows before `done` were imported, rejected or left out. */
export interface State extends Identity {
  /** The API key: the service stores the outcome of a batch for the key that sent it. */
  keyId: number;
  startedAt: string;
  done: number;
  created: number;
  rejected: number;
  /** Pets that were created without their stock. */
  incomplete: number;
  /** Rows that `--skip-existing` or `--in-doubt skip` left out. */
  skipped: number;
  /** The size of the file with the rejected rows. */
  rejectedBytes: number;
  sent: SentBatch | null;
}

/** Stores the progress of an import next to its file. The journal is replaced as a whole, so it is never incomplete. */
export class Journal {
  readonly path: string;
  state: State;

  private constructor(path: string, state: State) {
    this.path = path;
    this.state = state;
  }

  /** Reads the journal of a file; `undefined` if there is none. Throws an `ImportError` if it is of another import. */
  static open(file: string, identity: Identity): Journal | undefined {
    const path = pathOf(file);
    if (!existsSync(path)) return undefined;
    const journal = new Journal(path, read(path));
    const { state } = journal;
    if (state.sha256 !== identity.sha256)
      throw new ImportError(
        `${file} has changed since its import began: restore it, or ${startAgain(path, state)}`,
      );
    const changed = (Object.keys(identity) as (keyof Identity)[]).find(
      name => JSON.stringify(state[name]) !== JSON.stringify(identity[name]),
    );
    if (changed !== undefined)
      throw new ImportError(
        `The import of ${file} began with ${nameOf(changed)} ${JSON.stringify(state[changed])}, not ${JSON.stringify(identity[changed])}: use the same, or ${startAgain(path, state)}`,
      );
    return journal;
  }

  /** Begins the journal of an import that starts. The first `save` writes it. */
  static begin(file: string, identity: Identity, keyId: number): Journal {
    return new Journal(pathOf(file), {
      ...identity,
      keyId,
      startedAt: new Date().toISOString(),
      done: 0,
      created: 0,
      rejected: 0,
      incomplete: 0,
      skipped: 0,
      rejectedBytes: 0,
      sent: null,
    });
  }

  /** Changes the state, and writes it to the disk. */
  save(changes: Partial<State>): void {
    this.state = { ...this.state, ...changes };
    const text = JSON.stringify(this.state);
    const next = `${this.path}.new`;
    const file = openSync(next, 'w', 0o600);
    try {
      writeFileSync(file, `${digest(text)}\n${text}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(next, this.path);
    syncDirectory(this.path);
  }

  remove(): void {
    rmSync(this.path, { force: true });
  }
}

const pathOf = (file: string) => `${file}.journal`;

function read(path: string): State {
  const [sum, text = ''] = readFileSync(path, 'utf8').split('\n', 2);
  if (sum === digest(text)) return JSON.parse(text);
  throw new ImportError(
    `${path} is damaged, so it is not known which rows were imported: restore it from a copy. If you delete it, the import starts with the first row, and creates pets again that it has created`,
  );
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

/** The other remedy, with its consequence. */
function startAgain(path: string, { done }: State): string {
  return `delete ${path} to start again. The first ${done} rows were processed: their pets would be created again`;
}

const names: Partial<Record<keyof Identity, string>> = {
  url: 'the URL',
  createCategories: '--create-categories',
  skipExisting: '--skip-existing',
};
const nameOf = (name: keyof Identity) => names[name] ?? `--${name}`;

/** A new name survives a power failure only when its directory is on the disk. Windows cannot do this, and need not. */
function syncDirectory(path: string): void {
  if (process.platform === 'win32') return;
  const directory = openSync(dirname(path), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
