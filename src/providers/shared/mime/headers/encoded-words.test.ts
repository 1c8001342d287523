import { describe, expect, it } from 'vitest'
import { decodeWords } from './encoded-words.ts'

describe('encoded words', () => {
  it.each([
    ['=?utf-8?Q?Gr=C3=BC=C3=9Fe_x?=', 'Grüße x'],
    ['=?utf-8?B?R3LDvMOfZQ==?= x', 'Grüße x'],
    ['=?UTF-8?q?a?= =?utf-8?b?Yg==?=', 'ab'],
    ['=?utf-8?Q?a?=\r\n =?utf-8?Q?b?=', 'ab'],
    ['=?utf-8?Q?a?==?utf-8?Q?b?=', 'ab'],
    ['=?utf-8?Q?a?= b =?utf-8?Q?c?=', 'a b c'],
    ['Dr.=?utf-8?Q?_J=C3=B6rg?=', 'Dr. Jörg'],
    ['=?utf-8*en?Q?hi?=', 'hi'],
    ['=?utf-8?Q??= x', ' x'],
  ])('%j is %j', (value, text) => {
    expect(decodeWords(value)).toBe(text)
  })

  it('joins the bytes of words that divide a character between them', () => {
    expect(decodeWords('=?utf-8?Q?=C3?= =?utf-8?Q?=BC?=')).toBe('ü')
    expect(decodeWords('=?utf-8?B?ww==?= =?utf-8?B?vA==?=')).toBe('ü')
    expect(decodeWords('=?gb2312?B?suI=?= =?gb2312?B?ytQ=?=')).toBe('测试')
  })

  it('decodes words of a stateful charset one by one, because each begins anew', () => {
    const words = '=?ISO-2022-JP?B?GyRCRnxLXBsoQg==?=\r\n =?ISO-2022-JP?B?GyRCOGw8KhsoQg==?='
    expect(decodeWords(words)).toBe('日本語耳')
    // Forgot to end the mode, which would make garbage of the next word.
    expect(decodeWords('=?ISO-2022-JP?B?GyRCRnxLXA==?= =?ISO-2022-JP?B?GyRCOGw=?=')).toBe('日本語')
  })

  it.each([
    ['=?utf-8?Q?Alles_in_Ordnung?_Gr=C3=BC=C3=9Fe?=', 'Alles in Ordnung? Grüße'],
    ['=?utf-8?Q?what?=20now?=', 'what? now'],
    ['=?utf-8?q?b c?=d', 'b cd'],
    ['=?unknown-8bit?b?R3LDvMOfZQ==?= x', 'Grüße x'],
    ['=?utf-8?B?R3LD vMOfZQ?=', 'Grüße'],
    ['=?utf-8?B?R3LD==vMOfZQ==?=', 'Grüße'],
  ])('is as forgiving as mail programs: %j is %j', (value, text) => {
    expect(decodeWords(value)).toBe(text)
  })

  it.each(['=?utf-8?Q?open', '=?utf-8?X?a?=', '=??Q?a?=', '=?utf-8', '=?', 'a = b ? c'])(
    'keeps %j as it is',
    (value) => {
      expect(decodeWords(value)).toBe(value)
    },
  )
})
