import { expect, it } from 'vitest'
import {
  BROWSER_ACCEPT,
  findRefresh,
  type Hosted,
  type HostedOptions,
  serveHosted,
} from '../../../../test/kit/accounts/hosted.ts'
import { loginAt } from '../../../../test/kit/accounts/oauth.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'

const FIRM = 'ada@firm.de'
const records = {
  mx: async (domain: string) =>
    domain === 'firm.de' ? ['firm-de.mail.protection.outlook.com'] : ['aspmx.l.google.com'],
  srv: async () => [],
  txt: async () => [],
}
const outbound = { send: () => Promise.reject(new Error('offline')), close: async () => {} }
const microsoft = loginAt('https://login.example')('microsoft')

describeOneDatabase('a mailbox that no password can open', 'sqlite', (open) => {
  async function withPages(options: HostedOptions, run: (hosted: Hosted, post: Post) => Promise<void>): Promise<void> {
    const hosted = await serveHosted(await open(), { records, outbound, authScreen: { name: 'Northwind' }, ...options })
    const post: Post = async (fields, session = {}) => {
      const { code, authUrl } = await hosted.session(session)
      const { state, cookie } = await hosted.open(authUrl)
      const form = { session: code, state, ...fields }
      const headers = { cookie, accept: BROWSER_ACCEPT }
      return (await hosted.call('/auth/authorize', { form, headers })).text()
    }
    try {
      await run(hosted, post)
    } finally {
      await hosted.close()
    }
  }

  it('gets no password field, but the way back, while Microsoft is not set up', () =>
    withPages({}, async (hosted, post) => {
      for (const [email, name] of [
        ['ada@outlook.com', 'Outlook'],
        [FIRM, 'Microsoft 365'],
        ['ada@proton.me', 'Proton Mail'],
      ] as const) {
        const page = await post({ email })
        expect(page).toContain(`${name} `)
        expect(page).toMatch(/This app cannot connect|this app cannot connect/)
        expect(page).toMatch(
          /class="button primary" href="https:\/\/app\.example\/done\?[^"]*"[^>]*>Return to Northwind</,
        )
        expect(page).not.toMatch(/type="password"|name="provider" value="microsoft"/)
      }
      const { authUrl } = await hosted.session({ provider: 'imap', email: 'ada@outlook.com' })
      expect((await hosted.open(authUrl)).page).not.toContain('type="password"')
    }))

  it('continues at Microsoft where that is set up and the session allows it', () =>
    withPages({ logins: { microsoft } }, async (_hosted, post) => {
      expect(new URL(findRefresh(await post({ email: FIRM })) ?? '').host).toBe('login.example')
      const chosen = await post({ email: FIRM, provider: 'imap' })
      expect(chosen).toContain('name="provider" value="microsoft">Continue with Microsoft')
      expect(chosen).not.toContain('type="password"')
      const limited = await post({ email: FIRM }, { provider: 'imap' })
      expect(limited).not.toMatch(/type="password"|name="provider" value="microsoft"/)
      expect(limited).toContain('Return to Northwind')
    }))

  it('lets the user enter a server where the provider is only a guess', () =>
    withPages({}, async (_hosted, post) => {
      expect(await post({ email: FIRM })).toContain('Enter a mail server')
      expect(await post({ email: 'ada@outlook.com' })).not.toContain('Enter a mail server')
      const form = await post({ email: FIRM, provider: 'imap', edit: 'server' })
      expect(form).toContain('type="password"')
    }))

  it('is not one at Google, which accepts app passwords for domains of its customers, too', () =>
    withPages({}, async (_hosted, post) => {
      const page = await post({ email: 'ada@school.de' })
      expect(page).toContain('Server: <bdi>imap.gmail.com</bdi>')
      expect(page).toContain('https://myaccount.google.com/apppasswords')
      expect(page).toContain('<label for="password">App password</label>')
    }))
})

type Post = (fields: Record<string, string>, session?: Record<string, unknown>) => Promise<string>

describeOneDatabase('the permissions on the pages', 'sqlite', (open) => {
  it('are those of the requested scopes, and of a password', async () => {
    const hosted = await serveHosted(await open(), {
      authScreen: { name: 'Northwind' },
      logins: { microsoft, gmail: loginAt('https://accounts.example')('gmail') },
    })
    const listed = async (session: Record<string, unknown>) => {
      const { page } = await hosted.open((await hosted.session(session)).authUrl)
      expect(page).toContain('Northwind asks for permission to:')
      const list = /<div class="grants">.*?<\/div>/s.exec(page)?.[0] ?? ''
      return [...list.matchAll(/<\/svg>([^<]+)<\/li>/g)].map(([, text]) => text)
    }
    const mail = ['Read your messages', 'Mark, move and delete messages', 'Send messages in your name']
    const all = [...mail, 'See and change the events in your calendars']
    try {
      for (const provider of ['gmail', 'microsoft', 'imap']) {
        expect(await listed({ provider, email: 'ada@posteo.de' })).toEqual(all)
      }
    } finally {
      await hosted.close()
    }
  })
})
