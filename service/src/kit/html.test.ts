import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { html } from './html.ts';

describe('html', () => {
  it('escapes text in content and in attributes', () => {
    const evil = `"><script>alert('1 & 2')</script>`;
    assert.equal(
      html`<a title="${evil}">${evil}</a>`.text,
      '<a title="&quot;&gt;&lt;script&gt;alert(&#39;1 &amp; 2&#39;)&lt;/script&gt;">' +
        '&quot;&gt;&lt;script&gt;alert(&#39;1 &amp; 2&#39;)&lt;/script&gt;</a>',
    );
  });

  it('takes HTML as it is, and lists item by item', () => {
    const items = ['a', 'b & c'].map(item => html`<li>${item}</li>`);
    assert.equal(html`<ul>${items}</ul>`.text, '<ul><li>a</li><li>b &amp; c</li></ul>');
  });

  it('leaves nothing where there is nothing, and writes zero', () => {
    assert.equal(html`[${undefined}${false}${[]}${''}${0}]`.text, '[0]');
  });
});
