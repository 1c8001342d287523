import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { cli } from '../../src/cli/cli.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { describeOneDatabase } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type MailOAuthStage, postPage, startMailOAuthStage } from '../scenarios/mail-oauth.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { plainMail } from '../servers/messages.ts'
import { radicaleAvailable } from '../servers/radicale.ts'
import { postfixAvailable } from '../servers/unpacked/postfix.ts'

const ADA = 'ada@acme.test'
const BOB = 'bob@acme.test'
const CARL = 'carl@acme.test'
const DORA = 'dora@acme.test'
const EVE = 'eve@acme.test'
/** Long enough for the sign-in, the check at the mail server and the first sync. */
const TOKEN_SECONDS = 6

interface Account {
  id: string
  status: string
  provider: string
  statusReason: string | null
  tokens: { expiresAt: string | null; hasRefreshToken: boolean; scopes: string[] }
}

const event = (uid: string, summary: string) =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Tests//EN\r\nBEGIN:VEVENT\r\nUID:${uid}\r\nDTSTAMP:20261101T000000Z\r\nDTSTART:20261201T090000Z\r\nDTEND:20261201T100000Z\r\nSUMMARY:${summary}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`
const card = (uid: string, name: string) =>
  `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\nFN:${name}\r\nN:;${name};;;\r\nEND:VCARD\r\n`
const ALL_EVENTS =
  '<?xml version="1.0"?><C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><C:calendar-data/></D:prop><C:filter><C:comp-filter name="VCALENDAR"/></C:filter></C:calendar-query>'

describe.skipIf(!dovecotAvailable() || !postfixAvailable() || !radicaleAvailable())(
  'IMAP mailboxes that sign in by OAuth',
  () => {
    describeOneDatabase('with two replicas', 'postgres', (databases) => {
      let stage: MailOAuthStage
      beforeAll(async () => {
        stage = await startMailOAuthStage(await databases.place())
        for (const user of [ADA, BOB, CARL, DORA, EVE]) await stage.dovecot.addUser(user, 'unused')
      })
      afterAll(() => stage?.close())

      const api = () => stage.apis[0]
      const account = (id: string) => api().call<Account>('GET', `/accounts/${id}`)
      const becomes = (id: string, status: string) =>
        eventually(async () => expect(await account(id)).toMatchObject({ status }))
      const subjects = async (id: string) => {
        const { messages } = await api().call<{ messages: { subject: string }[] }>('GET', `/accounts/${id}/messages`)
        return messages.map(({ subject }) => subject)
      }
      const eventTypes = async (id: string) => {
        const { events } = await api().call<{ events: { type: string }[] }>('GET', `/events?accountId=${id}&limit=200`)
        return events.map(({ type }) => type)
      }
      const grants = (user: string, isFailure: boolean) =>
        stage.issuer.grants.filter((grant) => grant.user === user && grant.error === isFailure).length
      const refreshes = (user: string) => grants(user, false)
      const failures = (user: string) => grants(user, true)

      it('connect, sync, send, and refresh once for both replicas', async () => {
        const { issuer, dovecot, postfix, apis, replicas, connect } = stage
        await dovecot.deliver(ADA, plainMail({ subject: 'Before' }))

        const { code } = await api().call<{ code: string }>('POST', '/auth/sessions', {
          redirectUri: 'https://app.example/done',
        })
        const choice = { session: code, state: 's', email: ADA }
        const page = await postPage(replicas[0], choice)
        expect(page).toContain('Continue with Acme Mail')
        expect(page).toContain('Use a password instead')
        expect(page).not.toContain('type="password"')
        expect(page).toContain('See and change your contacts')
        const form = await postPage(replicas[0], { ...choice, provider: 'imap', edit: 'password' })
        expect(form).toContain('type="password"')

        const landed = await connect(ADA)
        const id = landed.searchParams.get('accountId') ?? ''
        expect(Object.fromEntries(landed.searchParams)).toMatchObject({
          status: 'success',
          provider: 'imap',
          email: ADA,
        })
        await becomes(id, 'connected')
        expect(await subjects(id)).toEqual(['Before'])
        expect(await account(id)).toMatchObject({
          provider: 'imap',
          tokens: { hasRefreshToken: true, scopes: ['openid', 'email', 'offline_access'] },
        })
        expect(await api().call('GET', `/accounts/${id}/calendars`)).toMatchObject({ calendars: [] })

        const sent = await api().call<{ result: { messageId: string } }>('POST', `/accounts/${id}/messages/send`, {
          to: ['carl@example.com'],
          subject: 'By token',
          body: 'Hello',
        })
        expect(sent).toMatchObject({ success: true })
        await eventually(() => postfix.messages().length === 1)
        expect(postfix.messages()[0]?.from).toBe(ADA)

        // The mail servers refuse the token before it expires: sync and requests at both replicas need a new one at once.
        const before = refreshes(ADA)
        await issuer.endAccessTokens(ADA)
        await dovecot.kick(ADA)
        await dovecot.deliver(ADA, plainMail({ subject: 'After' }))
        const reads = apis.flatMap((replica) =>
          ['Archive', 'Junk', 'Trash'].map((folder) =>
            replica.call('GET', `/accounts/${id}/messages?mailbox=${folder}`),
          ),
        )
        await Promise.all(reads)
        await eventually(async () => expect((await subjects(id)).sort()).toEqual(['After', 'Before']))
        expect(refreshes(ADA)).toBe(before + 1)
        expect(failures(ADA)).toBe(0)
        await becomes(id, 'connected')

        const output = replicas.map((replica) => replica.output()).join()
        expect(output).not.toContain('secret-of-posthorn')
        await api().call('DELETE', `/accounts/${id}`)
      })

      it('keep a mailbox whose tokens expire, while it is idle and while the service is suspended, beside one whose consent is withdrawn', async () => {
        const { issuer, dovecot, replicas, connect } = stage
        const lost = (await connect(EVE)).searchParams.get('accountId') ?? ''
        await becomes(lost, 'connected')
        // A second login confirms the refusal 20 s later. The other mailbox has its time meanwhile.
        await issuer.revoke(EVE)
        await dovecot.kick(EVE)
        issuer.tokenSeconds = TOKEN_SECONDS
        onTestFinished(() => {
          issuer.tokenSeconds = 3600
        })
        const id = (await connect(CARL)).searchParams.get('accountId') ?? ''
        await becomes(id, 'connected')
        const expired = async () => {
          const { tokens } = await account(id)
          const expiresAt = Date.parse(tokens.expiresAt ?? '')
          // The issuer and the mail server count whole seconds.
          await eventually(() => systemClock.now() > expiresAt + 1000)
        }
        const logins = async () => (await dovecot.log()).split(`Login: user=<${CARL}>`).length - 1
        const before = { logins: await logins(), refreshes: refreshes(CARL) }

        for (const subject of ['One', 'Two']) {
          await expired()
          // As servers do that end a session with its token.
          await dovecot.kick(CARL)
          await dovecot.deliver(CARL, plainMail({ subject }))
          await eventually(async () => expect(await subjects(id)).toContain(subject))
        }
        const after = { logins: await logins(), refreshes: refreshes(CARL) }
        // Each round: the sync connection, and a request connection where a body was fetched.
        expect(after.logins - before.logins).toBeLessThanOrEqual(6)
        expect(after.refreshes - before.refreshes).toBeGreaterThanOrEqual(2)
        expect(after.refreshes - before.refreshes).toBeLessThanOrEqual(after.logins - before.logins)

        const startedMs = systemClock.now()
        for (const replica of replicas) replica.signal('SIGSTOP')
        try {
          // Whenever the token was issued.
          await eventually(() => systemClock.now() > startedMs + (TOKEN_SECONDS + 1) * 1000)
          await dovecot.kick(CARL)
          await dovecot.deliver(CARL, plainMail({ subject: 'Asleep' }))
        } finally {
          for (const replica of replicas) replica.signal('SIGCONT')
        }
        await eventually(async () => expect(await subjects(id)).toContain('Asleep'))
        await becomes(id, 'connected')
        expect(failures(CARL)).toBe(0)
        const types = await eventTypes(id)
        expect(types.filter((type) => type.startsWith('account.'))).toEqual(['account.connected'])
        expect(types.filter((type) => type === 'message.received')).toHaveLength(3)
        await api().call('DELETE', `/accounts/${id}`)

        await becomes(lost, 'auth_error')
        expect(failures(EVE)).toBeGreaterThan(0)
        expect((await account(lost)).statusReason).toContain('Acme Mail no longer grants access')
        // An event is listed once it has its position, after the transaction that recorded it.
        await eventually(async () => {
          expect((await eventTypes(lost)).filter((type) => type === 'account.auth_error')).toHaveLength(1)
        })
        await expect(api().call('GET', `/accounts/${lost}/messages?mailbox=Archive`)).resolves.toBeDefined()
        issuer.tokenSeconds = 3600
        expect((await connect(EVE, { email: EVE })).searchParams.get('accountId')).toBe(lost)
        await becomes(lost, 'connected')
        await eventually(async () => expect(await eventTypes(lost)).toContain('account.recovered'))
        await dovecot.deliver(EVE, plainMail({ subject: 'Again' }))
        await eventually(async () => expect(await subjects(lost)).toContain('Again'))
        await api().call('DELETE', `/accounts/${lost}`)
      })

      it('have the calendars and contacts of a server that takes tokens, also when one is refused', async () => {
        const { issuer, radicale, connect } = stage
        const calendar = await radicale.makeCalendar(DORA, 'Work')
        const book = await radicale.makeBook(DORA, 'people')
        await radicale.request(DORA, 'PUT', `${calendar}1.ics`, event('1', 'Before'))
        await radicale.request(DORA, 'PUT', `${book}1.vcf`, card('1', 'Grace'))
        const id = (await connect(DORA)).searchParams.get('accountId') ?? ''
        await becomes(id, 'connected')
        const calendars = async () =>
          (await api().call<{ calendars: { id: string; summary: string }[] }>('GET', `/accounts/${id}/calendars`))
            .calendars
        await eventually(async () => expect(await calendars()).toMatchObject([{ summary: 'Work' }]))
        const [{ id: calendarId } = { id: '' }] = await calendars()
        const events = `/accounts/${id}/calendars/${calendarId}/events`
        const summaries = async () =>
          (await api().call<{ events: { summary: string }[] }>('GET', `${events}?limit=50`)).events
            .map(({ summary }) => summary)
            .sort()
        const contacts = async () =>
          (await api().call<{ contacts: { displayName: string }[] }>('GET', `/accounts/${id}/contacts`)).contacts
            .map(({ displayName }) => displayName)
            .sort()
        await eventually(async () => expect(await summaries()).toEqual(['Before']))
        await eventually(async () => expect(await contacts()).toEqual(['Grace']))

        // The calendar server refuses the token before it expires.
        const before = { refreshes: refreshes(DORA), failures: failures(DORA) }
        await issuer.endAccessTokens(DORA)
        await api().call('POST', events, {
          summary: 'Through the API',
          start: { dateTime: '2026-12-02T09:00:00.000Z' },
          end: { dateTime: '2026-12-02T10:00:00.000Z' },
        })
        expect(refreshes(DORA)).toBe(before.refreshes + 1)
        const stored = await radicale.request(DORA, 'REPORT', calendar, ALL_EVENTS, { depth: '1' })
        expect(stored).toContain('SUMMARY:Through the API')
        await api().call('POST', `/accounts/${id}/contacts`, { displayName: 'Heidi' })
        await eventually(async () => expect(await contacts()).toEqual(['Grace', 'Heidi']))
        await eventually(async () => expect(await summaries()).toEqual(['Before', 'Through the API']))
        expect(await account(id)).toMatchObject({ status: 'connected' })
        expect(failures(DORA)).toBe(before.failures)
        await api().call('DELETE', `/accounts/${id}`)
      })

      it('import a mailbox with its refresh token, if it is for the address', async () => {
        const refreshToken = await stage.issuer.issueRefreshToken(BOB)
        const body = { oauthProvider: 'acme', refreshToken, email: BOB, customUserId: 'bob' }
        const unknown = api().call('POST', '/accounts', { ...body, oauthProvider: 'yahoo' })
        await expect(unknown).rejects.toThrow(/400 .*no name in OAUTH_PROVIDERS/)
        await expect(api().call('POST', '/accounts', { ...body, refreshToken: 'made up' })).rejects.toThrow(
          /400 .*is refused by the provider/,
        )
        const { id } = await api().call<Account>('POST', '/accounts', body)
        await becomes(id, 'connected')
        const other = { ...body, refreshToken: await stage.issuer.issueRefreshToken(BOB), email: ADA }
        await expect(api().call('POST', '/accounts', other)).rejects.toThrow(/imap_auth_failed/)
        await api().call('DELETE', `/accounts/${id}`)
      })

      it('import the accounts of EmailEngine that sign in over IMAP with tokens', async () => {
        const { issuer, replicas, dovecot } = stage
        const users = ['judy', 'kate', 'leo']
        for (const name of users) await dovecot.addUser(`${name}@acme.test`, 'unused')
        const [outlook, mailru] = [{ provider: 'outlook', baseScopes: 'imap' }, { provider: 'mailRu' }]
        const exported = (name: string, refreshToken: string, app: object) => ({
          account: `ee-${name}`,
          email: `${name}@acme.test`,
          oauth2: {
            provider: 'AAABhaBPHscAAAAH',
            auth: { user: `${name}@acme.test` },
            refreshToken,
            accessToken: 'old',
          },
          _app: { id: 'AAABhaBPHscAAAAH', ...app },
        })
        const tokenOf = (name: string) => issuer.issueRefreshToken(`${name}@acme.test`)
        const records = [
          exported('judy', await tokenOf('judy'), outlook),
          exported('kate', await tokenOf('kate'), mailru),
          // The token of another user, and one that the issuer does not know.
          exported('leo', await tokenOf('judy'), outlook),
          exported('mia', 'made up', mailru),
        ]
        const folder = await mkdtemp(join(tmpdir(), 'posthorn-import-'))
        onTestFinished(() => rm(folder, { recursive: true }))
        const file = join(folder, 'accounts.jsonl')
        await writeFile(file, records.map((record) => JSON.stringify(record)).join('\n'))
        const out: string[] = []
        const terminal = { out: (text: string) => void out.push(text), error: () => {} }
        const [{ url, key }] = replicas
        await cli(['import', 'emailengine', file, '--url', url, '--key', key, '--json'], terminal)
        const { accounts } = JSON.parse(out.join(''))
        expect(accounts).toMatchObject([
          { status: 'imported', provider: 'imap' },
          { status: 'imported', provider: 'imap' },
          { status: 'needs_consent', session: { provider: 'imap', email: 'leo@acme.test' } },
          { status: 'needs_consent', reason: 'the refresh token is refused by the provider' },
        ])
        await becomes('ee-judy', 'connected')
        await becomes('ee-kate', 'connected')
        for (const id of ['ee-judy', 'ee-kate']) await api().call('DELETE', `/accounts/${id}`)
      })

      it('links nothing when the mail server refuses the token', async () => {
        stage.issuer.beforeCheck = () => stage.issuer.endAccessTokens(BOB)
        await expect(stage.connect(BOB)).rejects.toThrow(/mailbox_refused/)
        const { accounts } = await api().call<{ accounts: Account[] }>('GET', '/accounts?q=bob')
        expect(accounts).toEqual([])
      })
    })
  },
)
