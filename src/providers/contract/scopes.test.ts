import { describe, expect, it } from 'vitest'
import { missingFor, notGranted } from './index.ts'

const google = (...names: string[]) => names.map((name) => `https://www.googleapis.com/auth/${name}`)

describe('granted scopes', () => {
  it.each([
    ['gmail', google('gmail.modify'), ['mail.read', 'mail.change', 'mail.send'], []],
    ['gmail', google('gmail.readonly'), ['mail.read'], []],
    ['gmail', google('gmail.readonly'), ['mail.change', 'mail.send'], google('gmail.modify')],
    ['gmail', ['https://mail.google.com/'], ['mail.read', 'mail.change', 'mail.delete', 'mail.send'], []],
    ['gmail', google('gmail.modify'), ['mail.delete'], ['https://mail.google.com/']],
    ['gmail', google('calendar'), ['calendar.read', 'calendar.change'], []],
    [
      'gmail',
      ['openid', ...google('userinfo.email')],
      ['calendar.read', 'mail.read'],
      google('calendar.readonly', 'gmail.modify'),
    ],
    ['microsoft', ['https://graph.microsoft.com/mail.read'], ['mail.read'], []],
    [
      'microsoft',
      ['Mail.Read', 'Calendars.Read'],
      ['mail.send', 'calendar.change'],
      ['Mail.Send', 'Mail.ReadWrite', 'Calendars.ReadWrite'],
    ],
    ['microsoft', ['Mail.ReadWrite'], ['mail.send'], ['Mail.Send']],
    ['microsoft', ['https://graph.microsoft.us/Mail.ReadWrite'], ['mail.read', 'mail.change', 'mail.delete'], []],
    ['microsoft', ['Mail.ReadBasic'], ['mail.read'], ['Mail.ReadWrite']],
    ['imap', [], ['mail.read', 'mail.send'], []],
  ] as const)('%s with %j: %j needs %j', (provider, granted, permissions, missing) => {
    expect(missingFor(provider, granted, permissions)).toEqual(missing)
  })

  it('cover the requested ones whatever their spelling, the scopes of the sign-in always', () => {
    const requested = [
      'offline_access',
      'https://graph.microsoft.com/User.Read',
      'https://graph.microsoft.com/Mail.Send',
    ]
    expect(notGranted(requested, ['mail.send'])).toEqual([])
    expect(notGranted(requested, ['Mail.ReadWrite'])).toEqual(['https://graph.microsoft.com/Mail.Send'])
    expect(notGranted(google('calendar.events', 'gmail.modify'), ['https://mail.google.com/'])).toEqual(
      google('calendar.events'),
    )
  })
})
