import { extname } from 'node:path';
import { encodings, fields } from '@petstore/pet-files';
import { command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { checkPets } from '../import/dry-run.ts';
import { importPets } from '../import/import-pets.ts';
import { type Format, inspect } from '../import/source.ts';
import { flag, oneOf, required, several, text } from '../parameters.ts';
import { importSummary } from '../resources.ts';

const formats: Record<string, Format> = {
  '.csv': 'csv',
  '.tsv': 'csv',
  '.txt': 'csv',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

export const importFile = command({
  name: 'import',
  summary: 'Create pets from a CSV or NDJSON file',
  details: [
    `Columns: ${fields.join(', ')}. A row needs a name, and a category or its categoryId. The first line of a CSV file names the columns; commas, semicolons and tabs separate cells. A pending pet with the quantity 0 gets an open order for its unit. The columns id, line, code and message are ignored, so an exported file and a file with rejected rows can be imported.`,
    'Rows are sent in batches, as fast as the limits of the API key allow. Progress is stored next to the file, in FILE.journal. After Ctrl-C, a limit, a crash or kill -9, run the same command again: it continues, and creates no pet twice.',
    'Rejected rows are written to FILE.rejected.csv, with line, code and message. Correct them, and import that file. The exit code is then 7.',
  ].join('\n\n'),
  arguments: { file: required(text('The file: .csv, .tsv, .txt, .ndjson or .jsonl', 'file')) },
  options: {
    map: several(
      text(
        'A column with another name: "Animal=name". Without a field, the column is left out. Can be repeated',
        'column=field',
      ),
    ),
    createCategories: flag('Create categories that do not exist. Their rows are rejected otherwise'),
    skipExisting: flag('Skip a row if a pet or an earlier row has its name and category'),
    encoding: oneOf('The encoding of a file without a byte order mark; utf-8 unless set', ...encodings),
    dryRun: flag('Check the rows, and write nothing'),
    inDoubt: oneOf(
      'What to do with a batch that may have been executed, if the service no longer knows it',
      'send',
      'skip',
    ),
    raw: flag('Leave the apostrophe before = + - @ that `petstore export` writes'),
    inputFormat: oneOf('The format; determined from the name of the file unless set', 'csv', 'ndjson'),
  },
  examples: [
    'petstore import pets.csv',
    'petstore import pets.csv --dry-run',
    'petstore import list.tsv --map "Animal=name" --map "Kind=category" --map "Notes=" --create-categories',
    'petstore import excel.csv --encoding windows-1252 --skip-existing',
    'petstore import pets.ndjson --max-wait 24h --json',
  ],
  operations: ['GET /account', 'GET /categories', 'POST /categories', 'GET /pets', 'POST /batch'],
  hasOwnKeys: true,
  output: 'item',
  prints: importSummary,
  async *run(
    context,
    { file, map, createCategories, skipExisting, encoding, dryRun, inDoubt, raw, inputFormat },
  ) {
    const format = inputFormat ?? formats[extname(file).toLowerCase()];
    if (!format)
      throw new UsageError(
        `The format of ${file} cannot be determined from its name: use --input-format csv or --input-format ndjson`,
      );
    const reading = { format, encoding: encoding ?? 'utf-8', isRaw: raw === true } as const;
    const source = await inspect(file, reading, context.calls.signal);
    const options = {
      map,
      createCategories: createCategories === true,
      skipExisting: skipExisting === true,
      inDoubt,
    };
    if (dryRun) yield* checkPets(context, source, options);
    else yield* importPets(context, source, options);
  },
});
