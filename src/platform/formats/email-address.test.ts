import { describe, expect, it } from 'vitest'
import { asciiDomain } from './domain.ts'
import { asciiEmail, isEmailAddress, needsSmtpUtf8, parseEmailAddress } from './email-address.ts'

describe('an email address', () => {
  it.each([
    ['ada@example.com', 'ada', 'example.com'],
    ['用户@例え.jp', '用户', 'xn--r8jz45g.jp'],
    ['用户@xn--r8jz45g.jp', '用户', 'xn--r8jz45g.jp'],
    ['ada@例え。jp', 'ada', 'xn--r8jz45g.jp'],
    ['größe.käthe@FAß.de', 'größe.käthe', 'xn--fa-hia.de'],
    ['अजय@डाटा.भारत', 'अजय', 'xn--c2bd1gb.xn--h2brj9c'],
    ['نامه‌ای@example.ایران', 'نامه‌ای', 'example.xn--mgba3a4f16a'],
    ['квіточка+пошта@пошта.укр', 'квіточка+пошта', 'xn--80a1acn3a.xn--j1amh'],
    ['👩‍💻@example.com', '👩‍💻', 'example.com'],
    ['e\u0301@example.com', 'e\u0301', 'example.com'],
    ['ada@localhost', 'ada', 'localhost'],
    ['"a b"@example.com', '"a b"', 'example.com'],
    ['taro..yamada.@docomo.example.com', '"taro..yamada."', 'docomo.example.com'],
    ['.taro@example.com', '".taro"', 'example.com'],
    ['"taro.yamada"@example.com', 'taro.yamada', 'example.com'],
    ['"taro..yamada."@example.com', '"taro..yamada."', 'example.com'],
    ['用户..@例え.jp', '"用户.."', 'xn--r8jz45g.jp'],
    ['"用 户"@例え.jp', '"用 户"', 'xn--r8jz45g.jp'],
    ['"用户"@例え.jp', '用户', 'xn--r8jz45g.jp'],
    ['"a@b,c;d:(e)[f]"@example.com', '"a@b,c;d:(e)[f]"', 'example.com'],
    ['"ada"@example.com', 'ada', 'example.com'],
    ["o'k+tag/x=y@mail_1.example", "o'k+tag/x=y", 'mail_1.example'],
    [`${'ö'.repeat(32)}@example.com`, 'ö'.repeat(32), 'example.com'],
  ])('may be %s', (text, local, domain) => {
    expect(parseEmailAddress(text)).toEqual({ address: { local, domain } })
    expect(isEmailAddress(`${local}@${domain}`)).toBe(true)
  })

  it.each([
    [''],
    ['ada'],
    ['@example.com'],
    ['ada@'],
    ['ada@@example.com'],
    ['ada example@example.com'],
    ['ada\u00a0x@example.com'],
    ['ada\u3000@example.com'],
    ['ada\u202egro@example.com'],
    ['ada\u200b@example.com'],
    ['ada\n@example.com'],
    ['\ud800@example.com'],
    ['.@example.com'],
    ['...@example.com'],
    ['"."@example.com'],
    ['" "@example.com'],
    ['" a"@example.com'],
    ['"a "@example.com'],
    ['"a  b"@example.com'],
    ['ada..b c@example.com'],
    ['"ada@example.com'],
    ['ada"@example.com'],
    ['ada"b"@example.com'],
    ['""@example.com'],
    ['"a"b"@example.com'],
    ['"a\\"@example.com'],
    ['"a<b"@example.com'],
    ['"a\nb"@example.com'],
    ['"a\u202eb"@example.com'],
    ['a@x.example, b@x.example'],
    [`${'a.'.repeat(40)}@example.com`],
    ['ada@example..com'],
    ['ada@.example.com'],
    ['ada@example.com.'],
    ['ada@-example.com'],
    ['ada@example.com/other.example'],
    ['ada@example.com?x'],
    ['ada@example.com#x'],
    ['ada@example.com\\x'],
    ['ada@ex%61mple.com'],
    ['ada@example.com:25'],
    ['ada@127.0.0.1'],
    ['ada@0x7f.1'],
    ['ada@[127.0.0.1]'],
    ['ada@例 え.jp'],
    ['ada@xn--a'],
    [`${'ö'.repeat(33)}@example.com`],
    [`ada@${'例え.'.repeat(80)}jp`],
    ['x'.repeat(100_000)],
    [`${'ö'.repeat(100_000)}@例え.jp`],
  ])('is never %j', (text) => {
    expect(parseEmailAddress(text).address).toBeUndefined()
  })

  it('has an ASCII domain for servers', () => {
    expect(['Ada@例え.JP', '用户@例え.jp', 'no address'].map(asciiEmail)).toEqual([
      'Ada@xn--r8jz45g.jp',
      '用户@xn--r8jz45g.jp',
      'no address',
    ])
  })

  it('needs SMTPUTF8 only for a local part outside ASCII', () => {
    expect(needsSmtpUtf8('用户@xn--r8jz45g.jp')).toBe(true)
    expect(needsSmtpUtf8('ada@例え.jp')).toBe(false)
    expect(needsSmtpUtf8('ada@example.com')).toBe(false)
  })
})

describe('a domain', () => {
  it('has one ASCII spelling', () => {
    expect(['IMAP.Example.com', 'ｉmap.example.com', 'imap。example。com'].map(asciiDomain)).toEqual(
      Array(3).fill('imap.example.com'),
    )
  })

  it.each(['a.example/b', 'a.example?b', 'a.example#b', 'a%2eexample', 'user@a.example', 'a.example:993', 'a b', ''])(
    'is never %j',
    (text) => {
      expect(asciiDomain(text)).toBeUndefined()
    },
  )
})
