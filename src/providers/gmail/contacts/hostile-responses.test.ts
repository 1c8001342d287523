import { describe, expect, it, onTestFinished } from 'vitest'
import { drainSteps } from '../../../../test/servers/contact-steps.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { startScripted } from '../../../../test/servers/scripted-http.ts'
import { outbound } from '../../../platform/outbound/index.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { ContactsAccount } from '../../contract/index.ts'
import { gmailProvider } from '../index.ts'

const { signal } = new AbortController()
const BOOK = 'contacts'

const sync = (account: ContactsAccount) => drainSteps(account.syncContacts({ bookId: BOOK, cursor: null, signal }))

describe('responses of Google that are not to be trusted', () => {
  it('ends listings without an end, and refuses long responses and photos at other hosts', async () => {
    let respond: (path: string) => object | string = () => ({})
    const server = await startScripted(({ path }) => ({ body: respond(path) }))
    const { contacts, mail } = gmailProvider({
      apiUrl: server.url,
      clock: systemClock,
      outbound: outbound({ guard: openGuard }),
    })
    onTestFinished(async () => {
      await mail.closeConnections()
      await server.close()
    })
    const access = { accountId: 'acc_1', email: 'a@b.test', settings: {}, secrets: {}, accessToken: async () => 'good' }
    const account = contacts.open(access)
    respond = () => ({ nextPageToken: 'again', contactGroups: [{}], connections: [{}] })
    await expect(sync(account)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('circle'),
    })
    await expect(account.listGroups?.(signal)).rejects.toMatchObject({ kind: 'unavailable' })
    respond = () => ({ connections: Array(400_000).fill(0), nextSyncToken: 'token' })
    await expect(sync(account)).rejects.toMatchObject({ kind: 'unavailable' })
    respond = () => ({ connections: [{ resourceName: 5 }, 7, { resourceName: 'people/c1' }], nextSyncToken: 'token' })
    expect((await sync(account)).found).toHaveLength(1)
    for (const url of ['https://photos.test/a', 'http://lh3.googleusercontent.com/a', 'no address']) {
      respond = () => ({ photos: [{ url }] })
      const photo = account.readPhoto({ bookId: BOOK, contactId: 'people/c1', maxBytes: 100, signal })
      await expect(photo).rejects.toThrow(/at another host|no address of a photo/)
    }
    expect(server.asked.every(({ path }) => path.startsWith('/v1/'))).toBe(true)
  })
})
