import { describe, expect, it } from 'vitest'
import { translate } from '../../../ui/hosted/index.ts'
import { LANGUAGES } from '../../../ui/hosted/texts/index.ts'
import { guideFor } from './guides.ts'
import { knownServer, serverAt } from './known-servers.ts'

const PROVIDERS = {
  'gmail.com': 'myaccount.google.com',
  'icloud.com': 'account.apple.com',
  'yahoo.com': 'login.yahoo.com',
  'aol.com': 'login.aol.com',
  'fastmail.com': 'app.fastmail.com',
  'zoho.com': 'accounts.zoho.com',
  'zohomail.eu': 'accounts.zoho.eu',
  'gmx.de': 'www.gmx.net',
  'gmx.com': 'www.gmx.com',
  'web.de': 'web.de',
  'yandex.com': 'id.yandex.com',
  'qq.com': 'mail.qq.com',
}

describe('the guides', () => {
  it.each(Object.entries(PROVIDERS))('lead users of %s to %s', (domain, site) => {
    const { host = '' } = knownServer(`ada@${domain}`) ?? {}
    const steps = guideFor(host)?.steps ?? []
    expect(steps.length).toBeGreaterThanOrEqual(3)
    const hosts = steps.flatMap(({ link }) => (link === undefined ? [] : new URL(link).host))
    expect(hosts).toContain(site)
    for (const { link = 'https://x' } of steps) expect(new URL(link).protocol).toBe('https:')
  })

  it.each(Object.keys(LANGUAGES))('fill every place of their texts in %s, and only those', (language) => {
    const t = translate(language)
    for (const domain of Object.keys(PROVIDERS)) {
      const { host = '' } = knownServer(`ada@${domain}`) ?? {}
      for (const { text, menu, link } of guideFor(host)?.steps ?? []) {
        const filled = t(text, { menu: '<menu>', link: '<link>' })
        expect([domain, text, filled.includes('<menu>'), filled.includes('<link>')]).toEqual([
          domain,
          text,
          menu !== undefined,
          link !== undefined,
        ])
      }
    }
  })

  it('also serve domains of their own at a known provider', () => {
    expect(serverAt('IMAP.fastmail.com ')).toMatchObject({ name: 'Fastmail', requirement: 'app password' })
    expect([serverAt('imap.firm.example'), guideFor('constructor')]).toEqual([undefined, undefined])
  })
})
