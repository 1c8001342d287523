import { describe, expect, it } from 'vitest'
import { translate } from '../../../ui/hosted/index.ts'
import { KNOWN_HOSTS, knownServer, providerOfDomain, requirementText } from './known-servers.ts'

describe('known mail servers', () => {
  it.each([
    ['ada@icloud.com', 'imap.mail.me.com'],
    ['ada@ME.com', 'imap.mail.me.com'],
    ['ada@yahoo.co.uk', 'imap.mail.yahoo.com'],
    ['ada@gmx.de', 'imap.gmx.net'],
    ['ada@web.de', 'imap.web.de'],
    ['ada@fastmail.com', 'imap.fastmail.com'],
    ['ada@posteo.de', 'posteo.de'],
    ['ada@t-online.de', 'secureimap.t-online.de'],
    ['ada@yandex.ru', 'imap.yandex.com'],
    ['"odd@name"@mailbox.org', 'imap.mailbox.org'],
  ])('proposes the server of %s', (email, host) => {
    expect(knownServer(email)).toMatchObject({ host, port: 993 })
  })

  it('proposes nothing for unknown domains or for inherited object properties', () => {
    for (const email of ['ada@example.com', 'ada@constructor', 'ada', '', 'ada@notgmx.de']) {
      expect(knownServer(email)).toBeUndefined()
    }
  })

  it('states what a provider requires first', () => {
    const text = (email: string) =>
      requirementText(translate('en'), knownServer(email) ?? { name: '', host: '', port: 1, requirement: undefined })
    expect(text('ada@icloud.com')).toContain('app password')
    expect(text('ada@gmx.net')).toContain('turn on IMAP access')
    expect(text('ada@mail.ru')).toContain('security settings of your Mail.ru account')
    expect(text('ada@proton.me')).toBeUndefined()
    expect(text('ada@outlook.com')).toBeUndefined()
    expect(text('ada@posteo.de')).toBeUndefined()
  })

  it('recognises addresses of Google and Microsoft', () => {
    expect(['a@gmail.com', 'a@hotmail.co.uk', 'a@fastmail.com', 'a@example.com'].map(providerOfDomain)).toEqual([
      'gmail',
      'microsoft',
      'imap',
      'imap',
    ])
  })

  it('contains only well-formed host names and domains', () => {
    const name = /^([a-z0-9-]+\.)+[a-z]{2,}$/
    for (const host of KNOWN_HOSTS) expect(host).toMatch(name)
  })
})
