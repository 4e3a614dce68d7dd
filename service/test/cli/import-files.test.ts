import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { useImportShop } from '../support/import-shop.ts';
import { inTime } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

const test = useImportShop();

describe('petstore import', () => {
  let known = 0;
  beforeEach(async () => {
    known = (await test.petNames()).length;
  });
  const newNames = async () => (await test.petNames()).slice(known);

  it('reads CSV with a byte order mark, CRLF, quotes and empty lines', async () => {
    test.write('quotes.csv', '\ufeffname,category\r', '"Rex, the ""dog""",Dogs\r', '\r', 'Mia,cats\r');
    const summary = await test.summaryOf(['@quotes.csv']);
    assert.equal(summary.created, 2);
    assert.deepEqual(await newNames(), ['Rex, the "dog"', 'Mia']);
    assert.ok(!test.files().some(name => name.startsWith('quotes.') && name !== 'quotes.csv'));
  });

  for (const [kind, delimiter] of Object.entries({ semicolons: ';', tabs: '\t' })) {
    it(`reads CSV with ${kind}, also if cells have commas, and if the first line is empty`, async () => {
      test.write(
        `${kind}.csv`,
        '',
        ['Name', 'Category ID', 'quantity'].join(delimiter),
        ['A, B', 2, 1].join(delimiter),
      );
      await test.summaryOf([`@${kind}.csv`]);
      assert.deepEqual(await newNames(), ['A, B']);
    });
  }

  it('reads what spreadsheet programs write: sep=, empty cells at the end, 3.0 and capital letters', async () => {
    test.write(
      'sheet.csv',
      'sep=;',
      'name;category;status;quantity;;',
      'Decimal;Dogs;Available;3.0;;',
      'Held;Dogs; RÉSERVÉE ;2,00;;',
      'Short;Dogs;;;',
      'More;Dogs;;1;;brown',
      'Thousands;Dogs;;3.000;;',
      'Few;Dogs',
    );
    const { created, rejected } = await test.summaryOf(['@sheet.csv'], 7);
    assert.deepEqual([created, rejected], [3, 3]);
    const { body } = await test.shop.api.get('/store/inventory?sort=-petId&limit=3');
    assert.deepEqual(valuesOf(body, 'status', 'quantity'), [
      ['available', 1],
      ['pending', 2],
      ['available', 3],
    ]);
    const lines = test.read('sheet.rejected.csv').split('\n');
    assert.equal(lines[0], '\ufeffline;code;message;name;category;status;quantity');
    assert.match(lines[1]!, /^6;invalid_request;.*6 cells.*;More;Dogs;;1;;brown$/);
    assert.match(
      lines[2]!,
      /^7;invalid_request;"?quantity: write a whole number.*3\.000.*;Thousands;Dogs;;3\.000$/,
    );
    assert.match(lines[3]!, /^8;invalid_request;.*2 cells.* 4: write the missing cells.*;Few;Dogs$/);
    for (const [column, header] of [
      [1, ';name;category'],
      [2, 'name; ;category'],
    ] as const) {
      test.write('gap.csv', header, 'Rex;x;Dogs');
      const { code, stderr } = await test.run(['import', '@gap.csv']);
      assert.equal(code, 2);
      assert.match(
        stderr,
        new RegExp(`^Error: Column ${column} of .* has no name: name it in the first line`),
      );
    }
  });

  it('rejects bytes that are not UTF-8 with their line, before it sends anything, and reads other encodings', async () => {
    const text = `name;category\n${'Rex;Dogs\n'.repeat(9000)}“Müller” €;Dogs\n`;
    const high: Record<string, number> = { '“': 0x93, '”': 0x94, '€': 0x80, ü: 0xfc };
    const bytes = Buffer.from(Array.from(text, character => high[character] ?? character.charCodeAt(0)));
    writeFileSync(join(test.directory, 'excel.csv'), bytes);
    const wrong = await test.run(['import', '@excel.csv']);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /excel\.csv is not UTF-8 text: line 9002 has bytes.*--encoding windows-1252/);
    assert.deepEqual(await newNames(), []);
    const single = bytes.subarray(bytes.length - 17);
    writeFileSync(join(test.directory, 'excel.csv'), Buffer.concat([Buffer.from('name;category\n'), single]));
    assert.equal((await test.summaryOf(['@excel.csv', '--encoding', 'windows-1252'])).created, 1);
    assert.deepEqual(await newNames(), ['“Müller” €']);
  });

  it('reads a file in the encoding that its byte order mark states, with every --encoding', async () => {
    const littleEndian = Buffer.from('\ufeffname\tcategory\nMüller\tDogs\n', 'utf16le');
    const files = { 'little.txt': littleEndian, 'big.txt': Buffer.from(littleEndian).swap16() };
    for (const [file, bytes] of Object.entries(files)) writeFileSync(join(test.directory, file), bytes);
    assert.equal((await test.summaryOf(['@little.txt'])).created, 1);
    assert.equal((await test.summaryOf(['@big.txt', '--encoding', 'windows-1252'])).created, 1);
    assert.deepEqual(await newNames(), ['Müller', 'Müller']);
  });

  it('reads the rejected rows of a file in another encoding with the same options', async () => {
    writeFileSync(join(test.directory, 'latin.csv'), 'name;category\nMüller;Fish\n', 'latin1');
    const encoding = ['--encoding', 'windows-1252'];
    await test.summaryOf(['@latin.csv', ...encoding], 7);
    const rejected = test.read('latin.rejected.csv');
    writeFileSync(join(test.directory, 'latin.rejected.csv'), rejected.replace('Müller;Fish', 'Müller;Dogs'));
    await test.summaryOf(['@latin.rejected.csv', ...encoding]);
    assert.deepEqual(await newNames(), ['Müller']);
  });

  for (const encoding of ['windows-1252', 'utf-16le', 'utf-16be'] as const)
    it(`reads rejected lines of NDJSON with the same --encoding ${encoding}`, async () => {
      const file = `${encoding}.ndjson`;
      const text = '{"name": "Jürgen", "category": "Fish"}\n';
      const bytes = Buffer.from(text, encoding === 'windows-1252' ? 'latin1' : 'utf16le');
      if (encoding === 'utf-16be') bytes.swap16();
      writeFileSync(join(test.directory, file), bytes);
      await test.summaryOf([`@${file}`, '--encoding', encoding], 7);
      const rejected = `${encoding}.rejected.ndjson`;
      writeFileSync(
        join(test.directory, rejected),
        test.read(rejected).replace('"category":"Fish"', '"category":"Dogs"'),
      );
      await test.summaryOf([`@${rejected}`, '--encoding', encoding]);
      assert.deepEqual(await newNames(), ['Jürgen']);
    });

  it('leaves out rows whose name and category exist with --skip-existing, and creates the others', async () => {
    await test.shop.api.post('/pets', { name: 'Zoe\u0308', categoryId: 1 });
    test.write(
      'again.csv',
      'name,category',
      'Zoë,Dogs',
      'Zoë,Cats',
      'zoë,Dogs',
      'New,Dogs',
      'New,Dogs',
      'Owl,Owls',
      'Owl,owls',
    );
    const args = ['@again.csv', '--skip-existing', '--create-categories'];
    const dry = await test.summaryOf([...args, '--dry-run']);
    assert.deepEqual([dry.rejected, dry.skipped], [0, 3]);
    const first = await test.summaryOf(args);
    assert.deepEqual([first.created, first.skipped], [4, 3]);
    const second = await test.summaryOf(args);
    assert.deepEqual([second.created, second.skipped], [0, 7]);
    assert.deepEqual((await newNames()).slice(1), ['Zoë', 'zoë', 'New', 'Owl']);
    const { body: owls } = await test.shop.api.get('/categories?name=owls');
    const { body: pets } = await test.shop.api.get(`/pets?categoryId=${owls[0].id}`);
    await test.shop.api.delete(`/pets/${pets[0].id}`);
    await test.shop.api.delete(`/categories/${owls[0].id}`);
  });

  it('sets the status and the stock of pets', async () => {
    test.write(
      'stock.csv',
      'name,category,status,quantity',
      ...['Many,Dogs,,7', 'Held,Dogs,pending,3', 'Sold,Dogs,sold,', 'None,Dogs,,0', 'Plain,Dogs,,'],
    );
    await test.summaryOf(['@stock.csv']);
    const { body } = await test.shop.api.get('/store/inventory?sort=-petId&limit=5');
    assert.deepEqual(valuesOf(body.toReversed(), 'status', 'quantity'), [
      ['available', 7],
      ['pending', 3],
      ['sold', 0],
      ['sold', 0],
      ['available', 1],
    ]);
  });

  it('reads NDJSON, and rejects single lines of it', async () => {
    test.write(
      'lines.ndjson',
      '\ufeff{"name": "Rex", "category": "Dogs", "quantity": 2}',
      '{"name": "Mia"',
      '{"name": "Tom", "categoryId": 2, "colour": "grey"}',
      '{"name": "Kit", "categoryId": "2", "message": "two\u2028lines\u2029"}',
      '{"name": "Ida", "Name": "Eda", "category": "Dogs"}',
    );
    const summary = await test.summaryOf(['@lines.ndjson'], 7);
    assert.deepEqual(await newNames(), ['Rex', 'Kit']);
    assert.equal(summary.rejected, 3);
    const rejected = test.read('lines.rejected.ndjson').trimEnd().split('\n');
    const [mia, tom, ida] = rejected.map(line => JSON.parse(line));
    assert.equal(mia.line, 2);
    assert.equal(mia.row, '{"name": "Mia"');
    assert.deepEqual([tom.line, tom.colour, tom.code], [3, 'grey', 'invalid_request']);
    assert.match(ida.message, /^Two members of the line are the field name: remove one/);
  });

  it('rejects rows whose names have invisible characters, and names the character', async () => {
    test.write('hidden.csv', 'name,category', 'Re\u202ex,Dogs', 'Seen,Dogs', 'Mia,D\u200bogs', '\u200d,Dogs');
    const summary = await test.summaryOf(['@hidden.csv'], 7);
    assert.equal(summary.rejected, 3);
    assert.deepEqual(await newNames(), ['Seen']);
    const messages = test.read('hidden.rejected.csv').split('\n');
    assert.match(messages[1]!, /^2,invalid_request,"?name: write visible characters only, without U\+202E/);
    assert.match(
      messages[2]!,
      /^4,invalid_request,"?category: write visible characters only, without U\+200B/,
    );
    assert.match(messages[3]!, /^5,invalid_request,"?Field `name` must have a visible character/);
  });

  it('names columns with --map, and leaves others out, also those with names of fields', async () => {
    test.write('map.tsv', 'Animal\tKind\tNotes', 'Rex\tDogs\tlikes = signs');
    const args = ['@map.tsv', '--map', 'Animal=name', '--map', 'Kind=category'];
    const { code, stderr } = await test.run(['import', ...args]);
    assert.equal(code, 2);
    assert.match(stderr, /"Notes" is not a field.*--map "Notes="/);
    await test.summaryOf([...args, '--map', 'Notes=']);
    test.write('fields.csv', 'name,Name,category,quantity', 'Mia,Max,Cats,many');
    await test.summaryOf(['@fields.csv', '--map', 'Name=', '--map', 'quantity=']);
    assert.deepEqual(await newNames(), ['Rex', 'Mia']);
  });

  it('imports no pets from the export of an empty shop, which has only a header, and does not fail', async () => {
    test.write('empty-shop.csv', 'name,category');
    const { rows, created } = await test.summaryOf(['@empty-shop.csv']);
    assert.deepEqual([rows, created], [0, 0]);
  });

  it('rejects files whose columns are not clear, before it sends anything', async () => {
    for (const [header, map, message] of [
      ['name,status', [], /no column "category"/],
      ['category', [], /no column "name"/],
      ['', [], /unclear\.csv is empty: name the columns in its first line/],
      ['name,Name,category', [], /Two columns of .* are the field name: leave one out with --map "name="/],
      ['name,name,category', [], /Two columns of .* are the field name: rename one in the file/],
      ['name,category', ['--map', 'Animal=name'], /no column "Animal"/],
      ['name,category', ['--map', 'name=weight'], /"weight" is not a field/],
      ['code,category', ['--map', 'code=name'], /column "code" of its own: give the column another name/],
    ] as const) {
      test.write('unclear.csv', header);
      const { code, stderr } = await test.run(['import', '@unclear.csv', ...map]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
    test.write('quote.csv', 'name,category', 'Rex,Dogs', '"Mia,Cats', 'Tom,Cats');
    const { code, stderr } = await test.run(['import', '@quote.csv']);
    assert.equal(code, 2);
    assert.match(stderr, /quote is not closed/);
    assert.deepEqual(await newNames(), []);
  });

  it('writes rejected rows with their lines, so that they can be corrected and imported', async () => {
    test.write(
      'bad.csv',
      'Name;Category;categoryId;Quantity',
      ...[
        'Good;Dogs;;1',
        '"Two',
        'lines";Dogs;;',
        ';Dogs;;',
        'Ida;Snakes;;',
        'Tom;;999999;',
        'Zoe;Cats;;-1',
        'Last;;1;2',
      ],
      'Too;Dogs;;1;5',
    );
    const summary = await test.summaryOf(['@bad.csv'], 7);
    assert.deepEqual([summary.created, summary.rejected], [2, 6]);
    const text = test.read('bad.rejected.csv');
    const [header, ...rows] = text.trimEnd().split('\n');
    assert.equal(header, '\ufeffline;code;message;Name;Category;categoryId;Quantity');
    const starts = rows.filter(row => /^\d+;/.test(row)).map(row => row.split(';', 2).join(' '));
    assert.deepEqual(starts, [
      '3 invalid_request',
      '5 invalid_request',
      '6 unknown_category',
      '7 unknown_category',
      '8 invalid_request',
      '10 invalid_request',
    ]);
    test.write(
      'bad.rejected.csv',
      header!,
      '6;unknown_category;There is no category;Ida;Cats;;',
      '8;invalid_request;quantity: wrong;Zoe;Cats;;1',
    );
    assert.equal((await test.summaryOf(['@bad.rejected.csv'])).created, 2);
    assert.deepEqual(await newNames(), ['Good', 'Last', 'Ida', 'Zoe']);
  });

  it('keeps columns of the user in the rejected rows that have the names of the reasons', async () => {
    test.write('own.csv', 'name,category,code,message', 'Kaa,Fish,K1,Call the owner');
    await test.summaryOf(['@own.csv'], 7);
    await test.summaryOf(['@own.rejected.csv'], 7);
    assert.match(
      test.read('own.rejected.rejected.csv'),
      /^\ufeffline,code,message,name,category,code,message\n2,unknown_category,[^\n]*,Kaa,Fish,K1,Call the owner\n$/,
    );
    test.write(
      'own.ndjson',
      '{"name": "Kaa", "category": "Fish", "message": "Call the owner", "message_": "At once"}',
    );
    await test.summaryOf(['@own.ndjson'], 7);
    await test.summaryOf(['@own.rejected.ndjson'], 7);
    const { message, ...row } = JSON.parse(test.read('own.rejected.rejected.ndjson'));
    assert.match(message, /"Fish"/);
    const own = { name: 'Kaa', category: 'Fish', message__: 'Call the owner', message_: 'At once' };
    assert.deepEqual(row, { line: 1, code: 'unknown_category', ...own });
  });

  it('does not replace rejected rows of an earlier import', async () => {
    test.write('twice.csv', 'name,category', ',Dogs');
    await test.summaryOf(['@twice.csv'], 7);
    const before = test.read('twice.rejected.csv');
    const { code, stderr } = await test.run(['import', '@twice.csv']);
    assert.equal(code, 5);
    assert.match(stderr, /twice\.rejected\.csv exists: move or delete it/);
    assert.equal(test.read('twice.rejected.csv'), before);
  });

  it('creates categories with --create-categories, each once', async () => {
    test.write('new.csv', 'name,category', 'Kaa,Snakes', 'Hiss,SNAKES ', 'Rex,dogs', ',Nothing');
    await test.summaryOf(['@new.csv', '--create-categories'], 7);
    assert.deepEqual(await newNames(), ['Kaa', 'Hiss', 'Rex']);
    const { body } = await test.shop.api.get('/categories?limit=100');
    assert.deepEqual(valuesOf(body, 'name'), ['Dogs', 'Cats', 'Snakes']);
  });

  it('checks rows with --dry-run, and writes nothing', async () => {
    test.write('dry.csv', 'name,category', 'Rex,Dogs', 'Mia,Fish', ',Dogs', 'Tom,Birds');
    const files = test.files();
    const sent = test.proxy.batches.length;
    const { code, stdout, stderr } = await test.run(['import', '@dry.csv', '--dry-run', '--json']);
    assert.equal(code, 7);
    const { rows, created, rejected, dryRun } = JSON.parse(stdout);
    assert.deepEqual([rows, created, rejected, dryRun], [4, 0, 3, true]);
    assert.match(
      stderr,
      /Line 3: .*"Fish\\".*\n.*Line 4: name: write 1 to 200 characters.*\n.*Line 5: .*"Birds\\"/,
    );
    assert.match(stderr, /^Nothing was written. A dry run cannot know/m);
    assert.deepEqual(test.files(), files);
    assert.equal(test.proxy.batches.length, sent);
    assert.deepEqual(await newNames(), []);
    const creating = await test.run(['import', '@dry.csv', '--dry-run', '--create-categories']);
    assert.match(creating.stderr, /1 of 4 rows would be rejected/);
  });

  it('sends and writes nothing with a key that may not create pets', async () => {
    test.write('scope.csv', 'name,category', 'Rex,Dogs');
    const files = test.files();
    const sent = test.proxy.batches.length;
    const { key } = await test.shop.clientWith({ scopes: ['pets:read', 'orders:write'] });
    for (const option of [[], ['--dry-run']]) {
      const { code, stderr } = await test.run(['import', '@scope.csv', ...option], { PETSTORE_API_KEY: key });
      assert.equal(code, 3);
      assert.match(stderr, /lacks the scope pets:write/);
    }
    assert.deepEqual(test.files(), files);
    assert.equal(test.proxy.batches.length, sent);
  });

  it('checks with --dry-run whether the key may set the stock of the rows', async () => {
    test.write('quantity.csv', 'name,category,status,quantity', 'Rex,Dogs,,1', 'Mia,Dogs,pending,0');
    const { key } = await test.shop.clientWith({ scopes: ['pets:read', 'pets:write'] });
    const words = ['import', '@quantity.csv', '--dry-run'];
    const { code, stderr } = await test.run(words, { PETSTORE_API_KEY: key });
    assert.equal(code, 3);
    assert.match(stderr, /Line 3 has a pending pet without stock, .* lacks the scope orders:write/);
  });

  it('ends with Ctrl-C also while it reads the file or checks rows', async () => {
    test.write('bad.csv', 'name,category', ',Dogs', ',Cats');
    const words = ['import', '@bad.csv', '--dry-run'];
    const stop = new AbortController();
    const onError = () => stop.abort();
    const { code, stdout, stderr } = await test.run(words, {}, { signal: stop.signal, onError });
    assert.deepEqual([code, stdout], [130, '']);
    assert.match(stderr, /^Error: Line 2: .*\n$/);
    const { inspect } =
      await test.petstore.load<typeof import('../../../cli/src/import/source.ts')>('import/source.js');
    const reading = { format: 'csv', encoding: 'utf-8', isRaw: false } as const;
    const reads = inspect(join(test.directory, 'bad.csv'), reading, stop.signal);
    await assert.rejects(reads, { name: 'AbortError' });
  });

  it('reads what the file had when the import began, also if another program appends rows', async () => {
    const { inspect, records } =
      await test.petstore.load<typeof import('../../../cli/src/import/source.ts')>('import/source.js');
    test.write('log.csv', 'name,category', 'Rex,Dogs');
    const file = join(test.directory, 'log.csv');
    const source = await inspect(file, { format: 'csv', encoding: 'utf-8', isRaw: false });
    appendFileSync(file, 'Mia,Cats\n');
    assert.deepEqual(valuesOf(await Array.fromAsync(records(source)), 'line'), [1, 2]);
  });

  it('needs memory for a few rows only', async () => {
    const rows = 100_000;
    const row = `${'x'.repeat(195)},Dogs`;
    test.write('large.csv', 'name,category', Array<string>(rows).fill(row).join('\n'));
    const args = ['import', '@large.csv', '--dry-run', '--json'];
    const { code, stdout, stderr } = await test.start(args, { NODE_OPTIONS: '--max-old-space-size=32' })
      .ended;
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).rows, rows);
  });

  it('shows its progress on a terminal only, with notes above it, and removes it at the end', async t => {
    t.after(() => test.proxy.reset());
    test.write('progress.csv', 'name,category', 'Rex,Dogs');
    let rejections = 0;
    test.proxy.before = () => {
      if (rejections++ > 0) return undefined;
      const body = { code: 'rate_limit_exceeded', message: 'Used up', status: 429 };
      return { status: 429, headers: { 'retry-after': '2' }, body };
    };
    const args = ['import', `${test.directory}/progress.csv`];
    const { stdout } = await inTime('the end', test.petstore.onTerminal(t, args).ended);
    const lines = stripVTControlCharacters(stdout.replaceAll('\u001b[1G', '\n')).split(/[\r\n]+/);
    assert.ok(lines.includes(`${'░'.repeat(30)}  0 %  0/1 rows`), stdout);
    assert.ok(
      lines.some(line => /^Waiting \d s for the limit of the API key …$/.test(line)),
      stdout,
    );
    assert.ok(lines.includes('created       1'), stdout);
    test.write('progress2.csv', 'name,category', 'Rex,Dogs');
    const { stderr } = await test.run(['import', '@progress2.csv']);
    assert.equal(stderr, '');
  });
});
