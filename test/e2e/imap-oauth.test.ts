import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeOneDatabase } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type MailOAuthStage, postPage, startMailOAuthStage } from '../scenarios/mail-oauth.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { plainMail } from '../servers/messages.ts'
import { postfixAvailable } from '../servers/unpacked/postfix.ts'

const ADA = 'ada@acme.test'
const BOB = 'bob@acme.test'

interface Account {
  id: string
  status: string
  provider: string
  statusReason: string | null
  tokens: { hasRefreshToken: boolean; scopes: string[] }
}

describe.skipIf(!dovecotAvailable() || !postfixAvailable())('IMAP mailboxes that sign in by OAuth', () => {
  describeOneDatabase('with two replicas', 'postgres', (databases) => {
    let stage: MailOAuthStage
    beforeAll(async () => {
      stage = await startMailOAuthStage(await databases.place())
      for (const user of [ADA, BOB]) await stage.dovecot.addUser(user, 'unused')
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
    const refreshes = () => stage.issuer.grants.filter(({ type, error }) => type === 'refresh_token' && !error).length

    it('connect, sync, send, refresh once for both replicas, report a withdrawn consent, and connect again', async () => {
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
      const form = await postPage(replicas[0], { ...choice, provider: 'imap', edit: 'password' })
      expect(form).toContain('type="password"')

      const landed = await connect(ADA)
      const id = landed.searchParams.get('accountId') ?? ''
      expect(Object.fromEntries(landed.searchParams)).toMatchObject({ status: 'success', provider: 'imap', email: ADA })
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
      const before = refreshes()
      await issuer.endAccessTokens(ADA)
      await dovecot.kick(ADA)
      await dovecot.deliver(ADA, plainMail({ subject: 'After' }))
      const reads = apis.flatMap((replica) =>
        ['Archive', 'Junk', 'Trash'].map((folder) => replica.call('GET', `/accounts/${id}/messages?mailbox=${folder}`)),
      )
      await Promise.all(reads)
      await eventually(async () => expect((await subjects(id)).sort()).toEqual(['After', 'Before']))
      expect(refreshes()).toBe(before + 1)
      expect(issuer.grants.filter(({ error }) => error)).toEqual([])
      await becomes(id, 'connected')

      await issuer.revoke(ADA)
      await dovecot.kick(ADA)
      await becomes(id, 'auth_error')
      expect((await account(id)).statusReason).toContain('Acme Mail no longer grants access')
      // An event is listed once it has its position, after the transaction that recorded it.
      await eventually(async () => {
        expect((await eventTypes(id)).filter((type) => type === 'account.auth_error')).toHaveLength(1)
      })
      await expect(api().call('GET', `/accounts/${id}/messages?mailbox=Archive`)).resolves.toBeDefined()

      const again = await connect(ADA, { email: ADA })
      expect(again.searchParams.get('accountId')).toBe(id)
      await becomes(id, 'connected')
      await eventually(async () => expect(await eventTypes(id)).toContain('account.recovered'))
      await dovecot.deliver(ADA, plainMail({ subject: 'Again' }))
      await eventually(async () => expect(await subjects(id)).toContain('Again'))

      const output = replicas.map((replica) => replica.output()).join()
      expect(output).not.toContain('secret-of-posthorn')
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

    it('links nothing when the mail server refuses the token', async () => {
      stage.issuer.beforeCheck = () => stage.issuer.endAccessTokens(BOB)
      await expect(stage.connect(BOB)).rejects.toThrow(/mailbox_refused/)
      const { accounts } = await api().call<{ accounts: Account[] }>('GET', '/accounts?q=bob')
      expect(accounts).toEqual([])
    })
  })
})
