import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { decode, isKnownCharset } from './charset.ts'

describe('decoding text in a charset', () => {
  it.each([
    ['cp949', 'cp949', '한글메일'],
    ['ks_c_5601-1987', 'cp949', '한뷁글'],
    ['euc-kr', 'cp949', '한뷁글'],
    ['uhc', 'cp949', '한뷁글'],
    ['cp932', 'shiftjis', '①日本語'],
    ['x-sjis', 'shiftjis', '日本語'],
    ['cp936', 'gbk', '测试邮件'],
    ['gb2312', 'gbk', '測試'],
    ['x-gbk', 'gbk', '测试邮件'],
    ['eucJP', 'eucjp', '日本語'],
    ['x-euc-jp', 'eucjp', '日本語'],
    ['big5', 'big5', '繁體中文'],
    ['windows1251', 'windows-1251', 'Привет'],
    ['win-1251', 'windows-1251', 'Привет'],
    ['"windows-1251"', 'windows-1251', 'Привет'],
    [' Windows-1251 ;', 'windows-1251', 'Привет'],
    ['x-cp1251', 'windows-1251', 'Привет'],
    ['cp850', 'cp850', 'Grüße'],
    ['ibm-850', 'cp850', 'Grüße'],
    ['cp-866', 'cp866', 'Привет'],
    ['koi8-r', 'koi8-r', 'Привет'],
    ['iso8859-2', 'iso-8859-2', 'Żółć'],
    ['28592', 'iso-8859-2', 'Żółć'],
    ['latin-9', 'iso-8859-15', '10 €'],
    ['iso-8859-1', 'windows-1252', '“10 €”'],
    ['us-ascii', 'windows-1252', 'Grüße'],
    ['x-mac-roman', 'macroman', 'Grüße'],
    ['utf-32le', 'utf-32le', 'Grüße'],
    ['ucs-2', 'utf-16be', 'Grüße'],
  ])('%s is read with the table of %s', (label, table, text) => {
    expect(decode(iconv.encode(text, table), label)).toBe(text)
  })

  it.each([
    ['utf-7', 'Gr+APwA3w-e', 'Grüße'],
    ['unicode-1-1-utf-7', 'Gr+APwA3w-e', 'Grüße'],
    ['hz-gb-2312', 'a ~{2bJT~} ~~ b', 'a 测试 ~ b'],
    ['hz', '~{2bJTSJ<~~}\n~{2bJT', '测试邮件\n测试'],
    ['iso-2022-kr', '\x1b$)C\x0eGQ1[\x0f abc', '한글 abc'],
    ['iso-2022-cn', '\x1b$)A\x0e2bJT\x0f abc', '测试 abc'],
    ['iso-2022-jp', '\x1b$BF|K\\8l\x1b(B abc', '日本語 abc'],
    ['iso-2022-jp', '\x1b$BF|K\\\x1b(B\x1b$B8l<*\x1b(B', '日本語耳'],
    ['csISO2022JP', '\x1b(I132\x1b(B x', 'ｱｳｲ x'],
    ['iso-2022-jp-2', '\x1b$A2bJT\x1b$(CGQ1[\x1b(B\x1b.AGr\x1bN|', '测试한글Grü'],
  ])('%s decodes %j as %s', (label, bytes, text) => {
    expect(decode(Buffer.from(bytes, 'latin1'), label)).toBe(text)
  })

  it('agrees with the Encoding Standard about every label and byte, but for bytes without a meaning', () => {
    const differences: string[] = []
    for (const [standard, labels] of Object.entries(LABELS)) {
      const decoder = new TextDecoder(standard)
      for (const label of labels.split(' ')) {
        if (!isKnownCharset(label)) differences.push(`${label} is unknown`)
        for (let byte = 0x80; byte <= 0xff; byte += 1) {
          const bytes = Buffer.from([0x61, byte, 0x62])
          const expected = decoder.decode(bytes)
          const isMeaningless = /[\u0080-\u009f\ufffd]/.test(expected)
          if (!isMeaningless && decode(bytes, label) !== expected) differences.push(`${label} ${byte.toString(16)}`)
        }
      }
    }
    expect(differences).toEqual([])
  })

  it('follows a byte order mark, whatever the label says', () => {
    expect(decode(Buffer.from('feff004700720fc', 'hex').subarray(0, 6), 'utf-16')).toBe('Gr')
    expect(decode(Buffer.from('fffe47007200', 'hex'), 'utf-16be')).toBe('Gr')
    expect(decode(Buffer.from('\ufeffGrüße'), 'iso-8859-1')).toBe('Grüße')
  })

  it('reads valid UTF-8 as UTF-8 in every charset of one byte, and where the declared charset makes no sense of it', () => {
    for (const label of ['iso-8859-1', 'windows-1251', 'us-ascii', 'unknown-8bit', '']) {
      expect(decode(Buffer.from('Grüße 測試'), label)).toBe('Grüße 測試')
    }
    expect(decode(Buffer.from('测试邮件'), 'gb2312')).toBe('测试邮件')
    // Valid UTF-8 of two-byte sequences by coincidence.
    expect(decode(iconv.encode('模', 'gbk'), 'gbk')).toBe('模')
  })

  it('keeps what is readable around damaged bytes, and a character that is cut off', () => {
    expect(decode(Buffer.from('4772c3bc20ff20c39f', 'hex'), 'utf-8')).toBe('Grü \ufffd ß')
    expect(decode(Buffer.from('Grüße').subarray(0, 5), undefined)).toBe('Grü\ufffd')
    expect(decode(Buffer.from('caf\xe9', 'latin1'), 'iso-8859-1')).toBe('café')
  })

  it.each([
    ['windows-1252', 'Grüße aus München'],
    ['windows-1252', 'Réunion à 10h'],
    ['windows-1252', '£100 off – today’s'],
    ['windows-1251', 'Привет, как дела? Сегодня встреча'],
    ['koi8-r', 'Привет, как дела? Сегодня встреча'],
    ['gbk', '测试邮件'],
    ['shiftjis', '日本語の件名です'],
    ['eucjp', '日本語の件名です'],
    ['cp949', '한글메일'],
    ['big5', '繁體中文郵件測試'],
  ])('guesses %s for a label that nobody knows: %s', (table, text) => {
    expect(isKnownCharset('x-nobody-knows')).toBe(false)
    expect(decode(iconv.encode(text, table), 'x-nobody-knows')).toBe(text)
  })
})

/** The single-byte encodings of the Encoding Standard that Node has, with the labels of its table. */
const LABELS: Record<string, string> = {
  ibm866: '866 cp866 csibm866 ibm866',
  'iso-8859-2': 'csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2',
  'iso-8859-3': 'csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3',
  'iso-8859-4': 'csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4',
  'iso-8859-5': 'csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988',
  'iso-8859-6':
    'arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso_8859-6:1987',
  'iso-8859-7':
    'csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso_8859-7:1987 sun_eu_greek',
  'iso-8859-8':
    'csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical',
  'iso-8859-10': 'csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6',
  'iso-8859-13': 'iso-8859-13 iso8859-13 iso885913',
  'iso-8859-14': 'iso-8859-14 iso8859-14 iso885914',
  'iso-8859-15': 'csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9',
  'koi8-r': 'cskoi8r koi koi8 koi8-r koi8_r',
  'koi8-u': 'koi8-u',
  'windows-1250': 'cp1250 windows-1250 x-cp1250',
  'windows-1251': 'cp1251 windows-1251 x-cp1251',
  'windows-1252':
    'ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252',
  'windows-1254': 'cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254',
  'windows-1255': 'cp1255 windows-1255 x-cp1255',
  'windows-1256': 'cp1256 windows-1256 x-cp1256',
  'windows-1257': 'cp1257 windows-1257 x-cp1257',
  'windows-1258': 'cp1258 windows-1258 x-cp1258',
}
