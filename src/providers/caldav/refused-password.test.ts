import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { testCaldav } from '../../../test/kit/calendars/caldav.ts'
import {
  type Certificate,
  certificateFor,
  type DavCall,
  type DavReply,
  multistatus,
  startDavServer,
} from '../../../test/servers/dav-server.ts'

const HOST = 'example.com'
const RANGE = { from: Date.parse('2026-11-01T00:00:00Z'), to: Date.parse('2026-12-01T00:00:00Z') }
const CHALLENGE: DavReply = { status: 401, headers: { 'www-authenticate': 'Basic realm="calendars"' } }
const HOME = '<C:calendar-home-set><D:href>/home/</D:href></C:calendar-home-set>'
const { signal } = new AbortController()

let certificate: Certificate
beforeAll(async () => {
  certificate = await certificateFor([HOST])
})

/** A server that nobody configured: its domain names it. It refuses the password of the calls that `refuses` selects. */
async function foundServer(refuses: (call: DavCall) => boolean, root = '/dav/') {
  const server = await startDavServer((call) => {
    if (call.credentials === undefined || refuses(call)) return CHALLENGE
    if (call.line === `PROPFIND ${root}`) return multistatus({ [root]: HOME })
    if (call.line === 'PROPFIND /home/c/') return multistatus({ '/home/c/': '<D:sync-token>t1</D:sync-token>' })
    return call.body.includes('calendar-query') ? multistatus({}) : { status: 404 }
  }, certificate)
  const { provider, close } = testCaldav({
    hosts: { [HOST]: '127.0.0.1' },
    port: server.port,
    ca: certificate.cert,
    records: { srv: async () => [{ host: HOST, port: 443 }], txt: async () => [`path=${root}`] },
  })
  onTestFinished(async () => {
    await close()
    await server.close()
  })
  const account = provider.open({
    accountId: 'acc_1',
    email: `ada@${HOST}`,
    settings: {},
    secrets: { password: 'secret' },
  })
  return {
    account,
    refused: () => server.calls.filter((call) => call.credentials !== undefined && refuses(call)),
    authorized: () => server.calls.filter(({ credentials }) => credentials !== undefined),
  }
}

describe('a password that a found CalDAV server refuses', () => {
  it.each(['/dav/', '/'])('is sent once while the calendars are looked for at %s', async (root) => {
    const { account, refused } = await foundServer(() => true, root)
    await expect(account.listCalendars(signal, true)).rejects.toMatchObject({ kind: 'rejected' })
    expect(refused()).toHaveLength(1)
  })

  it('is sent once to read a range', async () => {
    const { account, refused } = await foundServer(({ line }) => line.startsWith('REPORT'))
    const read = account.readRange({ calendarId: '/home/c/', range: RANGE, expand: false, signal })
    await expect(read).rejects.toMatchObject({ kind: 'rejected', passwordRefused: true })
    expect(refused()).toHaveLength(1)
  })

  it('is not sent again after both queries for earlier series', async () => {
    const isListing = ({ body }: DavCall) => body.includes('calendar-query') && !body.includes('calendar-data')
    const { account, refused } = await foundServer(isListing)
    const read = account.readRange({ calendarId: '/home/c/', range: RANGE, expand: false, signal })
    await expect(read).rejects.toMatchObject({ kind: 'rejected', passwordRefused: true })
    const queried = refused().map(({ body }) => /name="(RRULE|RDATE)"/.exec(body)?.[1] ?? 'everything')
    expect(queried).toContain('RRULE')
    expect(queried).not.toContain('everything')
  })

  it('is not sent again to find out whether a sync token is too old', async () => {
    const { account, refused, authorized } = await foundServer(({ body }) => body.includes('sync-collection'))
    const cursor = JSON.stringify({ kind: 'sync', value: 't0', from: RANGE.from })
    const sync = async () => {
      for await (const _ of account.syncEvents({ calendarId: '/home/c/', cursor, window: RANGE, signal }));
    }
    await expect(sync()).rejects.toMatchObject({ kind: 'rejected', passwordRefused: true })
    expect(refused()).toHaveLength(1)
    expect(authorized().at(-1)).toEqual(refused()[0])
  })
})
