import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Hosted, IMAP_FIELDS, serveHosted } from '../../../../test/kit/accounts/hosted.ts'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'

const PATH = '/auth/authorize/imap'
const JSON_ACCEPT = { accept: 'application/json' }

describeOneDatabase('the address of a mailbox', 'sqlite', (open) => {
  let hosted: Hosted
  beforeEach(async () => {
    hosted = await serveHosted(await open())
  })
  afterEach(() => hosted.close())

  it('lists folders whatever the email is, as long as it is a string', async () => {
    const { code } = await hosted.session()
    const body = { session: code, state: 'x', ...IMAP_FIELDS }
    const list = (email: unknown) => hosted.call('/auth/authorize/imap/folders', { json: { ...body, email } })
    for (const email of ['', 'not an address', '用户@例え.jp', 'a\u0000b', 'x'.repeat(2000), null, undefined]) {
      expect((await list(email)).status).toBe(200)
    }
    for (const email of [5, true, ['ada@example.com'], {}]) {
      const response = await list(email)
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: { code: 'validation_failed', details: [{ path: 'body.email', message: 'must be a string' }] } },
      ])
    }
  })

  it('connects an internationalised address', async () => {
    for (const email of ['用户@例え.jp', 'größe@xn--gre-6ka8i.example']) {
      const { code } = await hosted.session({ email })
      const json = { session: code, state: 'x', ...IMAP_FIELDS, username: email, email }
      expect((await hosted.call(PATH, { json, headers: JSON_ACCEPT })).status).toBe(200)
      expect(await hosted.status(code)).toMatchObject({ status: 'completed', email })
    }
  })
})
