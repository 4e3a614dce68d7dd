/** A row that is longer is the result of a quote that is not closed. In bytes. */
export const MAX_ROW = 1024 * 1024;

/** What is wrong, by the codes of csv-parse. */
const reasons: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed. Close it, or write "" for a quote inside of quotes',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote. Write "" for a quote inside of quotes',
  CSV_MAX_RECORD_SIZE: 'a row is too long. Check whether a quote is not closed',
  INVALID_OPENING_QUOTE: 'a quote is in the middle of a cell. Put the whole cell in quotes',
};

/** Describes an error of csv-parse, whose text began after some lines of its file. Throws every other error. */
export function csvProblem(error: unknown, linesBefore = 0): string {
  if (!(error instanceof Error) || !('code' in error)) throw error;
  const reason = reasons[String(error.code)];
  if (!reason && !String(error.code).startsWith('CSV_')) throw error;
  const line = 'lines' in error ? ` near line ${linesBefore + Number(error.lines)}` : '';
  return `not a valid CSV file${line}: ${reason ?? error.message}`;
}
