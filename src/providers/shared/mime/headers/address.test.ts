import { describe, expect, it } from 'vitest'
import { fc } from '../../../../../test/kit/random/random.ts'
import { checkAddress, composeMessage, headerValue, parseAddress, parseHeaders } from '../index.ts'
import { readAddressList } from './address-list.ts'

const email = (text: string) => parseAddress(text).address?.email

describe('an address of a request', () => {
  it.each([
    ['ada@example.com', '', 'ada@example.com'],
    [' Ada Okafor <Ada@EXAMPLE.com> ', 'Ada Okafor', 'Ada@example.com'],
    ['"Okafor, \\"Ada\\"" <ada@example.com>', 'Okafor, "Ada"', 'ada@example.com'],
    ['größe@example.com', '', 'größe@example.com'],
    ['王さん <用户@例え.jp>', '王さん', '用户@xn--r8jz45g.jp'],
    ['王さん <wang@例え.テスト>', '王さん', 'wang@xn--r8jz45g.xn--zckzah'],
    ['"a b"@example.com', '', '"a b"@example.com'],
    ['太郎 <taro..yamada.@docomo.example.com>', '太郎', '"taro..yamada."@docomo.example.com'],
    ['"ada"@example.com', '', 'ada@example.com'],
    ['<"a@b"@example.com>', '', '"a@b"@example.com'],
    ['o.k+tag/x@mail_1.example', '', 'o.k+tag/x@mail_1.example'],
  ])('accepts %s', (text, name, expected) => {
    expect(parseAddress(text)).toEqual({ address: { name, email: expected } })
  })

  it.each([
    [''],
    ['ada'],
    ['ada@'],
    ['@example.com'],
    ['a@x, b@x'],
    ['Team: a@x, b@x;'],
    ['undisclosed-recipients:;'],
    ['a@x <b@x> c@x'],
    ['Okafor, Ada <ada@example.com>'],
    ['ada@[127.0.0.1]'],
    ['@relay,@other:ada@example.com'],
    ['ada..b c@example.com'],
    ['ada..@x.example, b@x.example'],
    ['ada @example.com'],
    ['ada\u202e@example.com'],
    ['ada@evil.example/example.com'],
    ['ada@example..com'],
    ['ada@-example.com'],
    ['ada@example.com\r\nBcc: eve@example.com'],
    ['Ada\r\nBcc: eve@example.com <ada@example.com>'],
    ['"a\nb"@example.com'],
    ['"a <b>"@example.com'],
    ['"a\\"b"@example.com'],
    [`${'a'.repeat(65)}@example.com`],
    [`ada@${'a.'.repeat(130)}com`],
    ['x'.repeat(5000)],
  ])('refuses %j', (text) => {
    const { address, problem } = parseAddress(text)
    expect(address).toBeUndefined()
    expect(problem).toMatch(/^(must|is) /)
  })

  it('is the same after it was written and parsed again', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.emailAddress()), (text) => {
        const { address } = parseAddress(text)
        if (address === undefined) return
        expect(email(address.email)).toBe(address.email)
        expect(address.email).toMatch(/^[^\p{C}]+@[\x21-\x7e]+$/u)
      }),
    )
  })

  it('is read in the header of the message as it was given', async () => {
    const character = fc.constantFrom(..."ab.._-+'@ ,;:()[]王ö")
    const local = fc.string({ unit: character, minLength: 1, maxLength: 12 })
    const name = fc.string({ unit: fc.constantFrom(...'Ada Okafor,;:()<>@"\\=?._王ö'), maxLength: 20 })
    const entry = fc.tuple(
      name,
      fc.oneof(
        local,
        local.map((text) => `"${text}"`),
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 4 }), async (all) => {
        const to = all.flatMap(([written, text]) => {
          const { address } = checkAddress({ name: written.trim(), email: `${text}@docomo.example` })
          return address ?? []
        })
        const header = parseHeaders(await composeMessage({ ...MESSAGE, to }))
        const read = readAddressList(headerValue(header, 'to') ?? '', 100)
        const spaced = (text: string) => text.replace(/ +/g, ' ').trim()
        expect(read.map((address) => [spaced(address.name), email(address.email)])).toEqual(
          to.map((address) => [spaced(address.name), address.email]),
        )
      }),
    )
  })

  it('is checked without its name, too', () => {
    expect(checkAddress({ name: 'Okafor, Ada', email: 'ada@Größe.example' }).address).toEqual({
      name: 'Okafor, Ada',
      email: 'ada@xn--gre-6ka8i.example',
    })
    expect(checkAddress({ name: 'a\nb', email: 'ada@example.com' }).problem).toBeDefined()
  })
})

const MESSAGE = {
  from: { name: '', email: 'ada@example.com' },
  cc: [],
  bcc: [],
  replyTo: [],
  subject: 'x',
  text: 'x',
  html: null,
  attachments: [],
  messageId: '<1@example.com>',
  inReplyTo: null,
  references: [],
  date: 0,
  sentToken: null,
  headers: [],
}
