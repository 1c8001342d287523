import { describe, expect, it } from 'vitest'
import { readAddressList } from './address-list.ts'

const read = (value: string) => readAddressList(value, 100).map(({ name, email }) => [name, email])

describe('a list of addresses', () => {
  it.each([
    ['ada@x.example', [['', 'ada@x.example']]],
    ['Ada <ada@x.example>', [['Ada', 'ada@x.example']]],
    ['"Lovelace, Ada" <ada@x.example>', [['Lovelace, Ada', 'ada@x.example']]],
    ['"Joe \\"J\\" Q" <j@x.example>', [['Joe "J" Q', 'j@x.example']]],
    ['ada@x.example (Ada)', [['Ada', 'ada@x.example']]],
    ['"a b"@x.example', [['', '"a b"@x.example']]],
    [
      'Ada <"a, b;c:(d)"@x.example>, e@f',
      [
        ['Ada', '"a, b;c:(d)"@x.example'],
        ['', 'e@f'],
      ],
    ],
    [
      '<"a@x.example>, "B, C" <d@x.example>',
      [
        ['', '"a@x.example'],
        ['B, C', 'd@x.example'],
      ],
    ],
    ['u@[IPv6:2001::1]', [['', 'u@[IPv6:2001::1]']]],
    [
      'Team:Ed <ed@x.example>,jo@x.example;, x@y',
      [
        ['Ed', 'ed@x.example'],
        ['', 'jo@x.example'],
        ['', 'x@y'],
      ],
    ],
    ['undisclosed-recipients:;', []],
    [
      'a@b,,c@d,',
      [
        ['', 'a@b'],
        ['', 'c@d'],
      ],
    ],
    [
      'a@b; c@d',
      [
        ['', 'a@b'],
        ['', 'c@d'],
      ],
    ],
    [
      'a@b c@d',
      [
        ['', 'a@b'],
        ['', 'c@d'],
      ],
    ],
    ['<@r1.x,@r2.x:u@h>', [['', 'u@h']]],
    ['Foo <foo @ bar . com>', [['Foo', 'foo@bar.com']]],
    ['Foo <mailto:a@b>', [['Foo', 'a@b']]],
    ['<<a@b>>', [['', 'a@b']]],
    ['用户@例え.jp', [['', '用户@例え.jp']]],
    ['taro..yamada.@docomo.example', [['', 'taro..yamada.@docomo.example']]],
    ['Mail System <MAILER-DAEMON>', [['Mail System', 'MAILER-DAEMON']]],
    ['MAILER-DAEMON <>', [['MAILER-DAEMON', '']]],
  ])('%s', (value, expected) => {
    expect(read(value)).toEqual(expected)
  })

  it.each([
    ['=?utf-8?Q?M=C3=BCller,_Hans?= <h@x>', 'Müller, Hans', 'h@x'],
    ['=?utf-8?Q?Support:_B=C3=BCro?= <s@x>', 'Support: Büro', 's@x'],
    ['=?utf-8?Q?J=C3=B6rg_(Vertrieb)?= <j@x>', 'Jörg (Vertrieb)', 'j@x'],
    ['=?utf-8?Q?J=C3=B6rg_"JJ"_K?= <j@x>', 'Jörg "JJ" K', 'j@x'],
    ['=?iso-2022-jp?B?GyRCRnxLXBsoQg==?= =?iso-2022-jp?B?GyRCOGw8KhsoQg==?= <j@x>', '日本語耳', 'j@x'],
    ['"=?utf-8?Q?J=C3=B6rg?=" <j@x>', 'Jörg', 'j@x'],
    ['Dr. =?utf-8?Q?J=C3=B6rg?= K <j@x>', 'Dr. Jörg K', 'j@x'],
    ['j@x (=?utf-8?Q?J=C3=B6rg?=)', 'Jörg', 'j@x'],
  ])('has encoded words as parts of names, whatever is in them: %s', (value, name, email) => {
    expect(read(value)).toEqual([[name, email]])
  })

  it.each([
    ['=?utf-8?Q?Boss_<boss@x.example>?= <real@attacker.example>', 'real@attacker.example'],
    ['"boss@x.example" <real@attacker.example>', 'real@attacker.example'],
    ['boss@x.example <real@attacker.example>', 'real@attacker.example'],
    ['"<boss@x.example>" <real@attacker.example>', 'real@attacker.example'],
    ['(boss@x.example) real@attacker.example', 'real@attacker.example'],
    ['<boss@x.example> <real@attacker.example>', 'real@attacker.example'],
    ['=?utf-8?Q?boss=40x.example?=', ''],
    ['=?utf-8?Q?Boss_<boss@x.example>?=', ''],
    ['(boss@x.example)', ''],
  ])('never takes an address out of a display name: %s', (value, email) => {
    expect(read(value).map(([, found]) => found)).toEqual([email])
  })

  it('keeps entries without an address, whose name a comma cut off', () => {
    expect(read('Mueller, Hans <hans@x>')).toEqual([
      ['Mueller', ''],
      ['Hans', 'hans@x'],
    ])
  })

  it('has nested comments', () => {
    const value = 'Pete(A nice \\) chap (really)) <pete(his account)@silly.example(his host)>'
    expect(read(value)).toEqual([['Pete', 'pete@silly.example']])
  })

  it.each(['"Foo <a@b>', 'Foo (x <a@b>', 'Foo <a@b', 'Foo <a@b, '])('reads what is not closed: %s', (value) => {
    expect(read(value)[0]?.[1]).toBe('a@b')
  })

  it('ends after as many entries as asked for', () => {
    expect(readAddressList('a@b, c@d, e@f', 2)).toHaveLength(2)
  })
})
