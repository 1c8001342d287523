import { describe, expect, it } from 'vitest'
import { fixedClock } from '../../platform/time/clock.ts'
import { mailLogins, mailSettings, readOAuthProviders } from './index.ts'

function signIn(entry: object, withContacts: boolean) {
  const { providers, errors } = readOAuthProviders(JSON.stringify({ fastmail: { clientId: 'posthorn', ...entry } }))
  expect(errors).toEqual([])
  const found = mailLogins(providers, { clock: fixedClock(0), withContacts }).get('fastmail')
  if (found === undefined) throw new Error('the preset is missing')
  return found
}

const FASTMAIL = 'https://www.fastmail.com/dev/protocol-'

describe('the preset of Fastmail', () => {
  it('requests contacts only while they are switched on', () => {
    const mail = [`${FASTMAIL}imap`, `${FASTMAIL}smtp`, `${FASTMAIL}caldav`]
    expect(signIn({}, false).login.scopes).toEqual(mail)
    expect(signIn({}, true).login.scopes).toEqual([...mail, `${FASTMAIL}carddav`])
  })

  it('leaves the scopes to an operator who names them', () => {
    expect(signIn({ scopes: ['mail'] }, true).login.scopes).toEqual(['mail'])
    expect(signIn({ scopes: ['mail'], contactScopes: ['people'] }, true).login.scopes).toEqual(['mail', 'people'])
  })

  it('names a server each for calendars and contacts', () => {
    const { caldav, carddav } = mailSettings(signIn({}, true).provider, 'ada@fastmail.com')
    expect([caldav, carddav]).toEqual([
      { url: 'https://caldav.fastmail.com/', username: 'ada@fastmail.com' },
      { url: 'https://carddav.fastmail.com/', username: 'ada@fastmail.com' },
    ])
  })
})
