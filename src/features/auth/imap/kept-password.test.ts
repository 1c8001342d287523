import { expect, it } from 'vitest'
import { describeOneDatabase } from '../../../../test/kit/database.ts'
import { fieldValue, imapForm, serveHosted } from '../../../../test/kit/hosted.ts'

describeOneDatabase('the password of the IMAP form', 'sqlite', (open) => {
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
