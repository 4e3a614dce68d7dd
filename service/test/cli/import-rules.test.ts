import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exportedColumns, fields } from '../../../pet-files/src/columns.ts';
import { newPetOf, petOf, rules } from '../../../pet-files/src/pet-rules.ts';
import { document } from '../contract/document.ts';
import { readProjectFile } from '../support/deploy-files.ts';

describe('the rules of petstore import', () => {
  it('are those of the contract', () => {
    const { NewPet, PetStatus, InventoryUpdate } = document.components.schemas;
    const { maxLength, pattern } = NewPet!.properties!.name!;
    assert.deepEqual(rules.name, { maxLength, pattern });
    assert.deepEqual(rules.status, PetStatus!.enum);
    const { minimum, maximum } = InventoryUpdate!.properties!.quantity!;
    assert.deepEqual({ minimum: 0, ...rules.quantity }, { minimum, maximum });
  });

  it('import and export every field of a pet, as the README states', () => {
    const { NewPet, Pet } = document.components.schemas as Record<
      string,
      {
        properties: Record<string, { example?: unknown; readOnly?: boolean }>;
        example: Record<string, unknown>;
      }
    >;
    const columns = [...Object.keys(Pet!.properties), 'category', 'quantity'];
    assert.deepEqual(exportedColumns.toSorted(), columns.toSorted());
    const documented = readProjectFile('cli/README.md').matchAll(/^\| `(\w+)` +\| \S/gm);
    assert.deepEqual(
      Array.from(documented, ([, name]) => name),
      fields,
    );
    for (const [field, { example = NewPet!.example[field], readOnly }] of Object.entries(
      NewPet!.properties,
    )) {
      if (readOnly) continue;
      assert.notEqual(example, undefined, `${field} has no example`);
      const row = { name: 'Rex', categoryId: '7', [field]: String(example) };
      const created: Record<string, unknown> = { ...newPetOf(petOf(row), Number(row.categoryId)) };
      assert.equal(created[field], example, field);
    }
  });
});
