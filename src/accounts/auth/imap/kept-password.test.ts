import { expect, it } from 'vitest'
import { fieldValue, imapForm, serveHosted } from '../../../../test/kit/accounts/hosted.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { ProviderError } from '../../../providers/contract/index.ts'

describeOneDatabase('the password of the IMAP form', 'sqlite', (open) => {
  it.each([
    ['imap_unreachable', 'unavailable', undefined],
    ['imap_tls', 'tls', undefined],
    ['imap_tls', 'tls', 'certificate_wrong_host'],
  ] as const)('survives %s for the same server only, and the settings open', async (code, kind, problem) => {
    const hosted = await serveHosted(await open())
    try {
      const email = 'ada@posteo.de'
      const session = await hosted.session({ provider: 'imap', email })
      const opened = await hosted.open(session.authUrl)
      const fields = Object.fromEntries(
        ['email', 'host', 'port', 'username', 'proposed'].map((name) => [name, fieldValue(opened.page, name)]),
      )
      const post = async (entered: Record<string, string>) =>
        (await hosted.call('/auth/authorize/imap', imapForm(session.code, opened, { ...fields, ...entered }))).text()

      hosted.mail.failure = new ProviderError(kind, 'x', { problem })
      const failed = await post({ password: 'right' })
      expect(failed).toContain(`data-code="${code}"`)
      expect(failed).toContain('<details class="more" id="settings" open>')
      expect(failed).not.toContain('"right"')
      const passwordToken = fieldValue(failed, 'passwordToken')
      hosted.mail.failure = undefined
      expect(await post({ password: '', passwordToken, host: 'mail.posteo.de' })).toContain('Enter the password.')
      expect(await post({ password: '', passwordToken })).toContain('Mailbox connected')
    } finally {
      await hosted.close()
    }
  })

  it('survives an error of another field, and is asked for again after a rejected sign-in', async () => {
    const hosted = await serveHosted(await open())
    try {
      const { code, authUrl } = await hosted.session({ provider: 'imap' })
      const opened = await hosted.open(authUrl)
      const post = async (fields: Record<string, string>) =>
        (await hosted.call('/auth/authorize/imap', imapForm(code, opened, fields))).text()

      const invalid = await post({ port: 'x' })
      expect(invalid).toContain('Already entered')
      const passwordToken = fieldValue(invalid, 'passwordToken')
      expect(fieldValue(await post({ password: 'wrong' }), 'passwordToken')).toBe('')
      expect(await post({ port: '993', password: '', passwordToken })).toContain('Mailbox connected')
    } finally {
      await hosted.close()
    }
  })
})
