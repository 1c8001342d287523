import { describe, expect, it } from 'vitest'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import { recipientsOfReply, referencesOfReply } from './reply-fields.ts'

const OWN = 'ada@acme.example'

function repliedTo(
  { from = '', replyTo = [], to = [], cc = [] }: { from?: string; replyTo?: string[]; to?: string[]; cc?: string[] },
  { isInSent = false, ownEmail = OWN } = {},
): string[] {
  const address = (email: string): RemoteAddress => ({ name: '', email })
  const original = {
    from: address(from),
    replyTo: replyTo.map(address),
    to: to.map(address),
    cc: cc.map(address),
  }
  return recipientsOfReply(original, { ownEmail, isInSent }).map(({ email }) => email)
}

describe('a reply that names nobody', () => {
  it('goes to the sender, or where the sender wants replies', () => {
    expect(repliedTo({ from: 'bob@x.example', to: [OWN] })).toEqual(['bob@x.example'])
    expect(repliedTo({ from: 'bob@x.example', replyTo: ['list@x.example', 'b@x.example'] })).toEqual([
      'list@x.example',
      'b@x.example',
    ])
  })

  it('skips entries without an address', () => {
    expect(repliedTo({ from: 'bob@x.example', replyTo: [''] })).toEqual(['bob@x.example'])
    expect(repliedTo({ from: 'bob@x.example', replyTo: ['', 'hans@x.example'] })).toEqual(['hans@x.example'])
    expect(repliedTo({ from: '', to: [OWN] })).toEqual([])
    for (const from of [
      'Bob',
      'MAILER-DAEMON',
      'bob@',
      '@x.example',
      'bob @x.example',
      'a@b, c@d',
      'bob@x\r\n.example',
    ])
      expect(repliedTo({ from })).toEqual([])
  })

  it('goes to addresses that only the sender takes for one, in their form', () => {
    expect(repliedTo({ from: 'bob@[192.0.2.1]' })).toEqual(['bob@[192.0.2.1]'])
    expect(repliedTo({ from: 'taro..@docomo.example' })).toEqual(['"taro.."@docomo.example'])
    expect(repliedTo({ from: '用户@例え.jp' })).toEqual(['用户@xn--r8jz45g.jp'])
  })

  it('goes to the recipients of a message that the account sent', () => {
    const sent = { from: 'Ada@ACME.example', to: ['bob@x.example', 'eve@x.example'], cc: ['carol@x.example'] }
    for (const isInSent of [true, false])
      expect(repliedTo(sent, { isInSent })).toEqual(['bob@x.example', 'eve@x.example'])
    expect(repliedTo({ ...sent, replyTo: ['support@acme.example'] }, { isInSent: true })).toEqual(sent.to)
    expect(repliedTo({ ...sent, to: [''] }, { isInSent: true })).toEqual(['carol@x.example'])
    expect(
      repliedTo({ from: 'ada@größe.example', to: ['bob@x.example'] }, { ownEmail: 'ada@xn--gre-6ka8i.example' }),
    ).toEqual(['bob@x.example'])
    // From an alias.
    expect(repliedTo({ ...sent, from: 'sales@acme.example' }, { isInSent: true })).toEqual(sent.to)
  })

  it('goes to nobody when the account sent the message to hidden recipients only', () => {
    expect(repliedTo({ from: OWN }, { isInSent: true })).toEqual([])
  })

  it('goes to the account when it wrote to itself', () => {
    for (const isInSent of [true, false]) expect(repliedTo({ from: OWN, to: [OWN] }, { isInSent })).toEqual([OWN])
    expect(repliedTo({ from: OWN })).toEqual([OWN])
  })

  it('goes to the visitor whose message a website sent from the account to itself', () => {
    const form = { from: OWN, replyTo: ['visitor@y.example'], to: [OWN] }
    for (const isInSent of [true, false]) expect(repliedTo(form, { isInSent })).toEqual(['visitor@y.example'])
  })

  it('goes to the sender of a message that somebody moved into Sent', () => {
    expect(repliedTo({ from: 'bob@x.example', to: [OWN] }, { isInSent: true })).toEqual(['bob@x.example'])
  })
})

describe('the references of a reply', () => {
  it.each([
    ['<m>', null, ['<r1>', '<r2>'], ['<r1>', '<r2>', '<m>']],
    ['<m>', '<p>', [], ['<p>', '<m>']],
    ['<m>', '<p>', ['<r1>'], ['<r1>', '<m>']],
    ['<m>', null, ['<m>', '<r1>'], ['<r1>', '<m>']],
    [null, '<p>', [], ['<p>']],
    [null, null, [], []],
  ])('to %s that replies to %s with %j', (messageId, inReplyTo, references, expected) => {
    expect(referencesOfReply({ messageId, inReplyTo, references })).toEqual(expected)
  })
})
