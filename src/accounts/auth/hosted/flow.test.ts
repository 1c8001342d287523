import { afterEach, beforeEach, expect, it } from 'vitest'
import { fieldValue, findRefresh, type Hosted, serveHosted } from '../../../../test/kit/accounts/hosted.ts'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'

describeEachDatabase('connecting a mailbox through the hosted pages', (open) => {
  let hosted: Hosted
  beforeEach(async () => {
    hosted = await serveHosted(await open())
  })
  afterEach(() => hosted.close())

  it('leads from the link through the IMAP form to the application, and links one account', async () => {
    const { code, authUrl } = await hosted.session({ customUserId: 'user-7' })
    expect(await hosted.status(code)).toMatchObject({ status: 'pending', provider: null, email: null, accountId: null })

    const first = await hosted.open(authUrl)
    expect(first.status).toBe(200)
    const headers = { cookie: first.cookie }
    const second = await hosted.call('/auth/authorize', {
      form: { session: code, state: first.state, email: 'ada@fastmail.com' },
      headers,
    })
    const form = await second.text()
    expect([fieldValue(form, 'host'), fieldValue(form, 'port')]).toEqual(['imap.fastmail.com', '993'])
    expect(await hosted.status(code)).toMatchObject({ status: 'started' })

    const fields = { session: code, state: first.state, email: 'ada@fastmail.com', username: 'ada@fastmail.com' }
    const server = { host: 'imap.fastmail.com', port: '993' }
    const wrong = await hosted.call('/auth/authorize/imap', {
      form: { ...fields, ...server, password: 'wrong' },
      headers,
    })
    expect([wrong.status, (await wrong.text()).includes('data-code="imap_auth_failed"')]).toEqual([200, true])
    expect(await hosted.status(code)).toMatchObject({ status: 'failed', failureCode: 'imap_auth_failed' })

    const done = await hosted.call('/auth/authorize/imap', {
      form: { ...fields, ...server, password: 'right' },
      headers,
    })
    expect(done.status).toBe(200)
    const status = await hosted.status(code)
    expect(status).toMatchObject({ status: 'completed', provider: 'imap', email: 'ada@fastmail.com' })
    expect(findRefresh(await done.text())).toBe(
      `https://app.example/done?${new URLSearchParams({
        status: 'success',
        accountId: String(status.accountId),
        provider: 'imap',
        email: 'ada@fastmail.com',
        session: code,
      })}`,
    )
  })
})
