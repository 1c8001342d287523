import { expect, it } from 'vitest'
import { fieldValue, type Hosted, imapForm, type Opened, serveHosted } from '../../../../test/kit/accounts/hosted.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'

const EMAIL = 'ada@firm.de'
const OPEN = '<details class="more" id="settings" open>'

describeOneDatabase('a mail server that was found', 'sqlite', (open) => {
  async function withForm(run: (hosted: Hosted, code: string, opened: Opened, lookups: string[]) => Promise<void>) {
    const lookups: string[] = []
    const srv = async (name: string) => {
      lookups.push(name)
      return name.startsWith('_imaps.') ? [{ host: 'mail.firm.de', port: 10_993 }] : []
    }
    const hosted = await serveHosted(await open(), {
      records: { mx: async () => [], srv, txt: async () => [] },
      outbound: { send: () => Promise.reject(new Error('offline')), close: async () => {} },
    })
    try {
      const { code, authUrl } = await hosted.session({ provider: 'imap', email: EMAIL })
      await run(hosted, code, await hosted.open(authUrl), lookups)
    } finally {
      await hosted.close()
    }
  }

  it('stays known after a rejected password, without another lookup', () =>
    withForm(async (hosted, code, opened, lookups) => {
      expect(opened.page).toContain('Server: <bdi>mail.firm.de</bdi>')
      expect(opened.page).not.toContain(OPEN)
      const count = lookups.length
      const names = ['email', 'host', 'port', 'username', 'proposed']
      const fields = Object.fromEntries(names.map((name) => [name, fieldValue(opened.page, name)]))
      const post = async (entered: Record<string, string>) =>
        (await hosted.call('/auth/authorize/imap', imapForm(code, opened, { ...fields, ...entered }))).text()

      const rejected = await post({ password: 'wrong' })
      expect(rejected).toContain('Check the password and try again.')
      expect(rejected).toContain('Server: <bdi>mail.firm.de</bdi>')
      expect(rejected).not.toContain(OPEN)
      expect(await post({ password: 'wrong', username: 'ada' })).toContain(OPEN)
      expect(await post({ password: 'wrong', host: 'other.firm.de' })).toContain('Server: <bdi>other.firm.de</bdi>')
      expect(lookups).toHaveLength(count)
      expect(await post({ password: 'right' })).toContain('Mailbox connected')
      expect(hosted.mail.attempts.at(-1)?.settings.imap).toMatchObject({ host: 'mail.firm.de', port: 10_993 })
    }))

  it('is believed only for its own address, and only as text', () =>
    withForm(async (hosted, code, opened) => {
      const proposed = (value: unknown) =>
        hosted
          .call('/auth/authorize/imap', imapForm(code, opened, { password: 'wrong', proposed: JSON.stringify(value) }))
          .then((response) => response.text())
      const found = { host: 'imap.example.com', port: '993', secure: '', username: 'ada' }
      expect(await proposed({ ...found, email: 'ada@example.com' })).toContain('Server: <bdi>imap.example.com</bdi>')
      const nonsense = [
        { ...found, email: 'eve@example.com' },
        { email: 'ada@example.com', host: {} },
        null,
        7,
        'x',
        [],
      ]
      for (const value of nonsense) expect(await proposed(value)).not.toContain('Server: ')
    }))
})
