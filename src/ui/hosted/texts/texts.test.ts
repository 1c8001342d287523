import { describe, expect, it } from 'vitest'
import { brand } from '../brand.ts'
import type { Grant } from '../grants.ts'
import type { Guide } from '../guide.ts'
import { IMAP_FORM_FIELDS, type ImapFormValues, imapPage } from '../imap-page.ts'
import { landingPage } from '../landing-page.ts'
import type { PageContext } from '../layout.ts'
import { mailboxesPage } from '../mailboxes-page.ts'
import { continuePage, errorPage } from '../message-page.ts'
import { obstaclePage } from '../obstacle-page.ts'
import { consentPage, emailPage } from '../start-page.ts'
import { en } from './en.ts'
import { chooseLanguage, LANGUAGES, type Texts, translate } from './index.ts'

const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}/g) ?? [])].sort()

describe.each(Object.entries(LANGUAGES))('the texts in %s', (_language, texts) => {
  it('are complete, without leftovers', () => {
    expect(Object.keys(texts).sort()).toEqual(Object.keys(en).sort())
    for (const text of Object.values(texts)) expect(text.trim()).toBe(text)
    expect(Object.entries(texts).filter(([, text]) => text === '')).toEqual([])
  })

  it('are all translated', () => {
    const sentences = Object.entries(en).filter(([, text]) => texts !== en && text.split(' ').length > 3)
    expect(sentences.filter(([key, text]) => texts[key as keyof Texts] === text)).toEqual([])
  })

  it('have the placeholders of the English ones', () => {
    for (const [key, text] of Object.entries(en)) {
      expect([key, placeholders(texts[key as keyof Texts])]).toEqual([key, placeholders(text)])
    }
  })
})

describe('the language of a page', () => {
  it.each([
    ['en-GB', 'fr', 'en'],
    ['xx', 'en;q=0.4', 'en'],
    ['de-AT', 'fr', 'de'],
    ['sv', 'nl', 'nl'],
    [null, 'fr;q=0.5, pt-BR', 'pt'],
    [null, 'ja;q=0, it;q=0.1', 'it'],
    [null, undefined, 'en'],
    [null, 'xx, *;q=0.1', 'en'],
    ['__proto__', 'constructor', 'en'],
  ])('with locale %s and Accept-Language %s is %s', (locale, header, language) => {
    expect(chooseLanguage(locale, header)).toBe(language)
  })
})

/** Every Latin letter becomes a fullwidth one, so any ASCII word on a page is a text that no language file contains. */
const pseudo = Object.fromEntries(
  Object.entries(en).map(([key, text]) => [
    key,
    text
      .split(/(\{\w+\})/)
      .map((part) =>
        part.startsWith('{')
          ? part
          : part.replace(/[A-Za-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0)),
      )
      .join(''),
  ]),
) as Texts
const context: PageContext = { brand: brand({}), nonce: 'n', t: translate('ar', pseudo), cancelHref: '/9' }
const EMPTY = Object.fromEntries(IMAP_FORM_FIELDS.map((name) => [name, ''])) as ImapFormValues
const ERRORS = { fields: { host: '1', port: '2' } }
const form = { action: '/', session: '1', state: '2', email: '' }
const GRANTS: Grant[] = [
  'read',
  'change',
  'send',
  'calendarRead',
  'calendarChange',
  'contactsRead',
  'contactsChange',
  'shared',
]
const GUIDE: Guide = {
  title: 'guide.imap',
  steps: [{ text: 'guide.verification', menu: ['1', { key: 'menu.googleCreate' }], link: '/1' }],
}
const obstacle = {
  ...form,
  editAction: '/',
  provider: '1',
  title: '2',
  text: '3',
  canEnterServer: true,
  canChangeAddress: true,
}
const imap = {
  ...form,
  editAction: '/',
  values: EMPTY,
  errors: ERRORS,
  hosts: [],
  note: '1',
  proposedField: '2',
  grants: GRANTS,
  guide: GUIDE,
}
const proposed = { host: '1', port: '2', username: '3', secure: '4' }

const PAGES: Record<string, string> = {
  email: emailPage(context, { ...form, choices: [{ provider: '1', label: '1' }], errors: ERRORS }),
  consent: consentPage(context, { ...form, provider: '1', grants: GRANTS }),
  'consent of a connected mailbox': consentPage(context, {
    ...form,
    email: '1',
    provider: '1',
    grants: GRANTS,
    newGrants: ['calendarChange'],
  }),
  'consent with an address': consentPage(context, { ...form, email: '1', provider: '1', grants: GRANTS }),
  'consent at a mail server': consentPage(context, {
    ...form,
    email: '1',
    provider: '1',
    grants: GRANTS,
    isMailServer: true,
  }),
  imap: imapPage(context, imap),
  'imap with a server that was found': imapPage(context, { ...imap, proposed }),
  folders: imapPage(context, {
    ...imap,
    folders: [{ path: '1', label: '1' }],
    passwordToken: '1',
    entered: ['password', 'smtpUsername', 'smtpPassword'],
  }),
  'an obstacle': obstaclePage(context, obstacle),
  'an obstacle with a way around it': obstaclePage(context, { ...obstacle, signIn: { provider: '1', label: '2' } }),
  'shared mailboxes': mailboxesPage(context, {
    ...form,
    provider: '1',
    own: '2',
    canLeaveOut: true,
    connectsOwn: true,
    ready: [{ email: '3', isChosen: true }],
    entered: '',
    limit: 4,
    errors: ['5'],
    signIn: '6',
  }),
  'shared mailboxes, opened first': mailboxesPage(context, {
    ...form,
    provider: '1',
    own: '2',
    canLeaveOut: false,
    connectsOwn: true,
    ready: [],
    entered: '',
    limit: 4,
    errors: [],
    signIn: '6',
  }),
  error: errorPage(context, { icon: 'link', title: '1', text: '2', code: '3', requestId: '4' }),
  landing: landingPage(context, { portal: {} }),
  'landing after a sign-in': landingPage(context, { outcome: 'connected' }),
  'landing after a cancelled sign-in': landingPage(context, { outcome: 'notConnected' }),
  'landing with the sign-in of the portal': landingPage(context, {
    portal: { signIn: { username: '1', passwordIn: '2' } },
  }),
  continue: continuePage(context, { title: '1', text: '2', href: '/3', label: '4', done: true }),
}

/** Names of protocols and technical placeholders, which are the same in every language. */
const SAME_EVERYWHERE = /\b(TLS|STARTTLS|IMAP|INBOX)\b|(smtp|imap)\.example\.com|https:\/\/dav\.example\.com\//g

describe.each(Object.entries(PAGES))('the %s page', (_name, page) => {
  it('has every text from the language file, attributes included', () => {
    const visible = page.replace(/<(style|script)[^>]*>.*?<\/\1>/gs, '')
    const texts = [
      ...visible.matchAll(
        / (?:placeholder|aria-label|title|alt|data-(?:busy|show|hide|show-label|hide-label))="([^"]*)"/g,
      ),
      ...visible.matchAll(/>([^<]+)</g),
    ].map((match) => match[1]?.replaceAll(/&\w+;/g, '').replaceAll(SAME_EVERYWHERE, '') ?? '')
    expect(texts.filter((text) => /[A-Za-z]{2}/.test(text))).toEqual([])
  })

  it('is laid out right to left, without physical sides for text', () => {
    expect(page).toContain('<html lang="ar" dir="rtl">')
    expect(page).not.toMatch(/(?:margin|padding)-(?:left|right):(?!94px)|text-align:(?:left|right)|[;{]float:/)
  })
})
