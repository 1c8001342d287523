import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readEmailEngineAccount } from './emailengine.ts'
import type { ForeignAccount, SignIns } from './foreign-account.ts'
import { readNylasGrant } from './nylas.ts'
import { planImport } from './plan.ts'
import { readRecords } from './read-records.ts'

const judged = ({ verdict, provider }: ForeignAccount) => [
  provider,
  verdict.kind,
  'reason' in verdict ? verdict.reason : verdict.body,
]

describe('a grant of Nylas', () => {
  const grant = (provider: unknown, settings?: unknown) =>
    readNylasGrant({ id: 'g-1', email: 'ada@example.com', provider, settings })

  it('becomes an account when its settings hold the credentials', () => {
    const common = { customUserId: 'g-1', email: 'ada@example.com' }
    expect(judged(grant('google', { refresh_token: 'r' }))).toEqual([
      'gmail',
      'ready',
      { provider: 'gmail', refreshToken: 'r', ...common },
    ])
    expect(judged(grant('icloud', { username: 'ada@icloud.com', password: 'p' }))).toMatchObject([
      'imap',
      'ready',
      { ...common, host: 'imap.mail.me.com', username: 'ada@icloud.com', password: 'p', smtpHost: null },
    ])
    const imap = { imap_username: 'ada', imap_password: 'p', imap_host: 'imap.example.com', imap_port: 143 }
    const smtp = { smtp_host: 'smtp.example.com', smtp_port: '587', smtp_username: 's', smtp_password: 'q' }
    expect(judged(grant('imap', { ...imap, ...smtp }))).toMatchObject([
      'imap',
      'ready',
      { ...common, port: '143', smtpHost: 'smtp.example.com', smtpPort: '587', smtpUsername: 's', smtpPassword: 'q' },
    ])
  })

  it.each([
    ['google', undefined, 'gmail', 'needs_consent', 'Nylas keeps the refresh token'],
    ['google', { refresh_token: '' }, 'gmail', 'needs_consent', 'Nylas keeps the refresh token'],
    ['microsoft', { credential_id: 'c', email_address: 'x@y.example' }, 'microsoft', 'needs_consent', 'organisation'],
    ['imap', { imap_host: 'h' }, 'imap', 'needs_consent', 'settings.imap_password is missing'],
    ['imap', { imap_password: 'p' }, 'imap', 'needs_consent', 'settings.imap_host is missing'],
    ['yahoo', { refresh_token: 'r' }, 'imap', 'needs_consent', 'app password'],
    ['ews', {}, null, 'unsupported', 'Exchange Web Services'],
    ['virtual-calendar', {}, null, 'unsupported', 'no mailbox'],
    ['__proto__', {}, null, 'unsupported', 'another kind of provider'],
    [undefined, 'text', null, 'invalid', 'no provider'],
  ])('of %s with the settings %o', (provider, settings, expected, kind, reason) => {
    expect(judged(grant(provider, settings))).toEqual([expected, kind, expect.stringContaining(reason)])
  })
})

describe('an account of EmailEngine', () => {
  const app = (provider: string, baseScopes?: string) => ({ provider, clientId: 'client-1', baseScopes })
  const oauth2 = { provider: 'AAAB', auth: { user: 'ada@example.com' }, refreshToken: 'r' }
  const imap = { host: 'imap.example.com', port: 993, secure: true, auth: { user: 'ada', pass: 'p' } }
  const nothing: SignIns = { clients: undefined, oauthProviders: new Set() }
  const read = (record: object, signIns = nothing) =>
    readEmailEngineAccount({ account: 'e-1', email: 'alias@example.com', ...record }, signIns)

  it('becomes an account, by its tokens or by its servers', () => {
    expect(read({ oauth2, _app: app('outlook', 'api') })).toEqual({
      id: 'e-1',
      // The address that signs in, because the token is checked against it.
      email: 'ada@example.com',
      provider: 'microsoft',
      verdict: {
        kind: 'ready',
        clientId: 'client-1',
        body: { provider: 'microsoft', customUserId: 'e-1', refreshToken: 'r', email: 'ada@example.com' },
      },
    })
    const smtp = { host: 'smtp.example.com', port: 465, secure: true, auth: { user: 's', pass: 'q' } }
    expect(judged(read({ imap, smtp, path: ['Support'] }))).toEqual([
      'imap',
      'ready',
      {
        provider: 'imap',
        customUserId: 'e-1',
        email: 'alias@example.com',
        host: 'imap.example.com',
        port: '993',
        secure: true,
        allowSelfSigned: false,
        username: 'ada',
        password: 'p',
        mailbox: 'Support',
        smtpHost: 'smtp.example.com',
        smtpPort: '465',
        smtpSecure: true,
        smtpUsername: 's',
        smtpPassword: 'q',
      },
    ])
  })

  it.each<[string, string | undefined, Partial<SignIns>, string]>([
    ['outlook', undefined, { oauthProviders: new Set(['outlook']) }, 'outlook'],
    ['outlook', 'imap', { oauthProviders: new Set(['outlook']) }, 'outlook'],
    ['outlook', 'api', { oauthProviders: new Set(['outlook']) }, 'microsoft'],
    ['mailRu', 'imap', { oauthProviders: new Set(['mailru']) }, 'mailru'],
    ['mailRu', 'imap', { oauthProviders: undefined }, 'mailru'],
    ['gmail', 'imap', { oauthProviders: new Set(['google']) }, 'gmail'],
    ['gmail', 'imap', { oauthProviders: new Set(['google']), clients: { gmail: null, microsoft: null } }, 'google'],
    ['gmail', 'api', { oauthProviders: new Set(['google']), clients: { gmail: null, microsoft: null } }, 'gmail'],
  ])('of %s with the scopes %s and the sign-ins %o goes to %s', (provider, baseScopes, signIns, expected) => {
    const found = read({ oauth2, _app: app(provider, baseScopes) }, { ...nothing, ...signIns })
    const over = ['gmail', 'microsoft'].includes(expected) ? { provider: expected } : { oauthProvider: expected }
    const body = { customUserId: 'e-1', refreshToken: 'r', email: 'ada@example.com', ...over }
    expect(found).toMatchObject({ verdict: { kind: 'ready', body } })
    expect(found.provider).toBe('provider' in over ? expected : 'imap')
  })

  it('keeps STARTTLS required on port 143, and optional elsewhere without TLS', () => {
    const secure = (over: object) => judged(read({ imap: { ...imap, ...over } }))[2]
    expect(secure({ port: 143, secure: false })).toMatchObject({ secure: null })
    expect(secure({ port: 1143, secure: false })).toMatchObject({ secure: false })
    expect(secure({ tls: { rejectUnauthorized: false } })).toMatchObject({ allowSelfSigned: true, secure: true })
  })

  it('watches one folder only when it is one', () => {
    const mailbox = (path: unknown) => judged(read({ imap, path }))[2]
    for (const path of ['*', ['*'], ['INBOX', 'Sent'], ['\\Sent'], undefined, 5]) {
      expect(mailbox(path)).toMatchObject({ mailbox: null })
    }
    expect(mailbox('Support')).toMatchObject({ mailbox: 'Support' })
  })

  const masked = { ...oauth2, refreshToken: '******' }
  const encrypted = { ...imap, auth: { user: 'ada', pass: '$wd01$aes-256-gcm$aa$bb$cc$dd' } }
  it.each<[string, object, string | null, string, string]>([
    ['tokens for IMAP at Microsoft', { oauth2, _app: app('outlook') }, 'microsoft', 'needs_consent', 'OAUTH_PROVIDERS'],
    [
      'an access token alone',
      { imap: { ...imap, auth: { user: 'a', accessToken: 't' } } },
      'imap',
      'needs_consent',
      'expires',
    ],
    ['masked tokens', { oauth2: masked, type: 'gmail' }, 'gmail', 'invalid', 'masked'],
    ['encrypted passwords', { imap: encrypted }, 'imap', 'invalid', 'EENGINE_SECRET'],
    ['no tokens', { oauth2: { auth: {} }, _app: app('gmail') }, 'gmail', 'needs_consent', 'no refresh token'],
    ['a list entry', { type: 'gmail', state: 'connected' }, 'gmail', 'invalid', 'use emailengine export'],
    ['a list entry of IMAP', { type: 'imap' }, 'imap', 'invalid', 'use emailengine export'],
    ['a service account', { oauth2, _app: app('gmailService') }, null, 'unsupported', 'POST /connections'],
    ['Mail.ru', { oauth2, _app: app('mailRu') }, 'imap', 'needs_consent', 'add mailru'],
    ['a lost application', { oauth2 }, null, 'unsupported', 'not known'],
    [
      'a shared mailbox',
      { oauth2: { auth: { delegatedUser: 'x' } }, type: 'delegated' },
      null,
      'unsupported',
      'with sharedWith',
    ],
    ['sending only', { smtp: {}, imap: false }, 'imap', 'unsupported', 'sends only'],
    ['disabled IMAP', { imap: { ...imap, disabled: true } }, 'imap', 'unsupported', 'disabled'],
    ['an authentication server', { imap: { ...imap, useAuthServer: true } }, 'imap', 'needs_consent', 'your auth'],
    ['no server', { imap: { auth: { user: 'a', pass: 'p' } } }, 'imap', 'invalid', 'no IMAP server'],
  ])('with %s', (_title, record, provider, kind, reason) => {
    expect(judged(read(record))).toEqual([provider, kind, expect.stringContaining(reason)])
  })
})

describe('the records of a file', () => {
  async function records(text: string) {
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-records-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await writeFile(join(folder, 'file'), text)
    return readRecords(join(folder, 'file'), ['data'])
  }
  const [a, b] = [{ id: 'a', note: '}{"\\' }, { id: 'b' }]
  const [textA, textB] = [JSON.stringify(a), JSON.stringify(b)]

  it.each([
    ['a list', `[${textA},${textB}]`],
    ['a page', `{"request_id":"r","data":[${textA},${textB}]}`],
    ['pages', `${JSON.stringify({ data: [a] }, null, 2)}\n${JSON.stringify({ data: b }, null, 2)}`],
    ['lines', `\uFEFF${textA}\r\n\n${textB}\n`],
    ['no separators', textA + textB],
  ])('are found in %s', async (_title, text) => {
    expect(await records(text)).toEqual([a, b])
  })

  it.each([
    ['a cut line', `${textA}\n{"id":"c","no\n${textB}`, [a, undefined, b]],
    ['a cut end', `${textA}{"id":"c`, [a, undefined]],
    ['text before them', `Loading\n${textA}\n${textB}`, [undefined, a, b]],
    ['closing brackets', `}}\n${textA}`, [undefined, a]],
    ['values that are no objects', `[${textA},5,null,"x"]`, [a, undefined, undefined, undefined]],
  ])('survive %s', async (_title, text, expected) => {
    expect(await records(text)).toEqual(expected)
  })

  it('are one account when they have the same id', () => {
    const service = { accounts: [], clients: undefined, oauthProviders: undefined }
    const found = [
      { id: 'g-1', provider: 'google' },
      { id: 'x'.repeat(300), provider: 'google' },
    ]
    const tokens = [{ id: 'g-1', email: 'a@b.example', settings: { refresh_token: 'r' } }, undefined]
    const planned = planImport([...found, ...tokens], readNylasGrant, service, { otherAddresses: false })
    expect(planned.map(({ id, record, verdict }) => [id, record, verdict.kind])).toEqual([
      ['g-1', 1, 'ready'],
      [null, 2, 'invalid'],
      [null, 4, 'invalid'],
    ])
  })

  it('fail early where the service has no OAuth client for them', () => {
    const service = { accounts: [], clients: { gmail: null, microsoft: 'm' }, oauthProviders: undefined }
    const record = { id: 'g-1', provider: 'google', settings: { refresh_token: 'r' } }
    const [planned] = planImport([record], readNylasGrant, service, { otherAddresses: false })
    expect(planned?.verdict).toMatchObject({ kind: 'invalid', reason: expect.stringContaining('GOOGLE_CLIENT_ID') })
  })
})
