export { type CategoryCreation, CategoryNames } from './category-names.ts';
export { addedColumns, exportedColumns, type Field, fieldOf, fields, guessedFieldOf } from './columns.ts';
export {
  type CsvRow,
  CsvRows,
  csvOptions,
  csvProblem,
  type Delimiter,
  delimiterOf,
  HEADER_BYTES,
  MAX_ROW,
  type ParsedRecord,
  widthProblem,
} from './csv.ts';
export { escapeFormula, unescapeFormula } from './formulas.ts';
export { type ImportedPet, newPetOf, petOf, Rejection, rules, stockToSet } from './pet-rules.ts';
