import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formErrors } from './form-errors.ts';

describe('an error of a form', () => {
  it('is shown at each field that the message names, in the words of the service', () => {
    const error = new Error('Field `plan` is required; field `name` must have at most 200 characters');
    assert.deepEqual(formErrors(error, ['name', 'plan']), {
      fields: { plan: 'Is required', name: 'Must have at most 200 characters' },
      general: undefined,
    });
  });

  it('says what to enter or choose in an empty field, and in one for a URL', () => {
    const error = new Error(
      'Field `categoryId` is required; field `name` must not be blank, but was " "; field `description` must not be empty, but was ""; ' +
        'field `url` must be a URL, such as `https://example.com/webhook`, in which spaces are percent-encoded, but was "shop.example"',
    );
    assert.deepEqual(formErrors(error, ['name', 'description', 'url', 'categoryId']).fields, {
      categoryId: 'Choose a category',
      name: 'Enter a name',
      description: 'Enter a description',
      url: 'Enter a whole address, such as https://shop.example/events',
    });
  });

  it('is shown at the control of an inner field, or else at that of the field', () => {
    const error = new Error('Field `quotas.perDay` must be at least 1; field `scopes.0` must be a string');
    assert.deepEqual(formErrors(error, ['quotas', 'quotas.perDay', 'scopes']), {
      fields: { 'quotas.perDay': 'Must be at least 1', scopes: 'Field `scopes.0` must be a string' },
      general: undefined,
    });
  });

  it('is shown at the field that its code is about, if the message names none', () => {
    const error = Object.assign(new Error('Pet 7 has 2 in stock'), { code: 'insufficient_stock' });
    const shown = { fields: { quantity: 'It has 2 in stock' }, general: undefined };
    assert.deepEqual(formErrors(error, ['petId', 'quantity']), shown);
    assert.equal(formErrors(error, ['name']).general, 'Pet 7 has 2 in stock');
  });

  it('is shown for the whole form if the form has no such field', () => {
    const error = new Error('Field `colour` is unknown; did you mean `color`?');
    assert.deepEqual(formErrors(error, ['name']), {
      fields: {},
      general: 'Field `colour` is unknown; did you mean `color`?',
    });
    assert.equal(
      formErrors(new Error('The pet has open orders'), ['name']).general,
      'The pet has open orders',
    );
  });
});
