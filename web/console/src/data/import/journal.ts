import type { ImportProgress } from './run.ts';

const PREFIX = 'petstore.console.import.';
const HEAD = `${PREFIX}head`;

/** The most characters that are stored, of about 5 million that a tab has: about 20,000 animals. */
const MOST = 2_000_000;

/** The last import of this tab, as far as undoing it needs it. */
export interface Journal
  extends Pick<ImportProgress, 'total' | 'done' | 'sending' | 'created' | 'categories'> {
  /** The name of its file. */
  file: string;
}

type Part = Pick<Journal, 'created' | 'categories'>;

interface Head extends Omit<Journal, keyof Part> {
  /** How many parts there are. */
  parts: number;
}

/** The journal that is stored. An earlier import can still be undone from its message, and must not remove it. */
let latest: StoredJournal | undefined;

/** A journal that the session storage has, so that an import can be undone after the page was loaded again. */
export class StoredJournal {
  /** Begins the journal of a new import, and removes the one of the last import. */
  static begin(file: string): StoredJournal {
    removeAll();
    latest = new StoredJournal(file);
    return latest;
  }

  /** The journal of an import before the page was loaded; `undefined` if there is none. */
  static read(): { journal: Journal; stored: StoredJournal } | undefined {
    const head = sessionStorage.getItem(HEAD);
    if (head === null) return;
    const { parts, ...rest }: Head = JSON.parse(head);
    const written: Part[] = Array.from({ length: parts }, (_, i) =>
      JSON.parse(sessionStorage.getItem(PREFIX + i)!),
    );
    const journal: Journal = {
      ...rest,
      created: written.flatMap(({ created }) => created),
      categories: written.flatMap(({ categories }) => categories),
    };
    latest = new StoredJournal(journal.file);
    return { journal, stored: latest };
  }

  readonly #file: string;
  #written = { parts: 0, created: 0, categories: 0, characters: 0 };

  private constructor(file: string) {
    this.#file = file;
  }

  /** Whether the import is small enough to be stored, and the tab has room for it. */
  get isKept(): boolean {
    return this.#written.characters <= MOST;
  }

  /** Stores what was created since the last call. */
  write({ total, done, sending, created, categories }: ImportProgress): void {
    if (latest !== this || !this.isKept) return;
    const part: Part = {
      created: created.slice(this.#written.created),
      categories: categories.slice(this.#written.categories),
    };
    const isNew = part.created.length + part.categories.length > 0;
    const text = isNew ? JSON.stringify(part) : undefined;
    this.#written = {
      parts: this.#written.parts + (isNew ? 1 : 0),
      created: created.length,
      categories: categories.length,
      characters: this.#written.characters + (text?.length ?? 0),
    };
    const { parts } = this.#written;
    if (this.isKept && store({ file: this.#file, total, done, sending, parts }, text)) return;
    this.#written.characters = Number.POSITIVE_INFINITY;
    removeAll();
  }

  /** Writes nothing any more. */
  close(): void {
    if (latest === this) latest = undefined;
  }

  /** Removes the journal. */
  remove(): void {
    if (latest === this) removeAll();
  }
}

/** Stores the last part, if there is a new one, and the head. Returns whether the tab has room for them. */
function store(head: Head, part: string | undefined): boolean {
  try {
    if (part !== undefined) sessionStorage.setItem(PREFIX + (head.parts - 1), part);
    sessionStorage.setItem(HEAD, JSON.stringify(head));
    return true;
  } catch {
    return false;
  }
}

function removeAll(): void {
  latest = undefined;
  sessionStorage.removeItem(HEAD);
  for (let part = 0; sessionStorage.getItem(PREFIX + part) !== null; part++)
    sessionStorage.removeItem(PREFIX + part);
}
