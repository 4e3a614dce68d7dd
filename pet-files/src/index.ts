export { type CategoryCreation, CategoryNames, type CreatedCategory } from './category-names.ts';
export {
  addedColumnProblem,
  addedColumns,
  exportedColumns,
  type Field,
  fieldOf,
  fields,
  guessedFieldsOf,
  isAddedColumn,
  replacedColumns,
} from './columns.ts';
export {
  type CsvRow,
  CsvRows,
  csvOptions,
  csvProblem,
  type Delimiter,
  delimiterOf,
  emptyProblem,
  HEADER_BYTES,
  MAX_ROW,
  type ParsedRecord,
  widthProblem,
  withoutEmptyEnd,
} from './csv.ts';
export { ExistingPets, RowNames } from './existing-pets.ts';
export { escapeFormula, unescapeFormula } from './formulas.ts';
export {
  type Completion,
  completionOf,
  type ImportedPet,
  newPetOf,
  petOf,
  Rejection,
  rules,
} from './pet-rules.ts';
export { type Encoding, EncodingError, encodingOf, encodings, TextReader } from './text-reader.ts';
