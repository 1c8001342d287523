import { describe, expect, it } from 'vitest'
import { BOOK, scriptedDavBook } from '../../../test/kit/contacts/scripted-dav-book.ts'
import { type DavCall, type DavReply, multistatus } from '../../../test/servers/dav-server.ts'
import type { ContactStep, ContactsAccount } from '../contract/index.ts'

const REPORTS =
  '<D:supported-report-set><D:supported-report><D:report><D:sync-collection/></D:report></D:supported-report></D:supported-report-set>'
const ETAG = '<D:getetag>"1"</D:getetag>'
const token = (name: string) => `<D:sync-token>${name}</D:sync-token>`

async function sync(account: ContactsAccount, cursor: string | null): Promise<ContactStep[]> {
  const { signal } = new AbortController()
  const steps: ContactStep[] = []
  for await (const step of account.syncContacts({ bookId: BOOK, cursor, signal })) steps.push(step)
  return steps
}

const idsOf = (steps: readonly ContactStep[]) => steps.flatMap(({ found }) => found.map(({ contactId }) => contactId))

/** A server that says that it has sync tokens, and answers a request with one by `reply`. */
function withTokens(reply: (tokenSent: string) => DavReply) {
  return ({ line, body }: DavCall): DavReply | undefined => {
    if (line === `PROPFIND ${BOOK}` && body.includes('supported-report-set'))
      return multistatus({ [BOOK]: REPORTS + (body.includes('sync-token') ? token('t1') : '') })
    if (body.includes('sync-collection')) return reply(/<D:sync-token>([^<]*)</.exec(body)?.[1] ?? '')
    return undefined
  }
}

describe('the first listing of an address book', () => {
  it('comes with its sync token, in pages, without another listing', async () => {
    const pages: Record<string, DavReply> = {
      '': multistatus({ [`${BOOK}a.vcf`]: ETAG, [`${BOOK}gone.vcf`]: 404, [BOOK]: 507 }, token('p2')),
      p2: multistatus({ [`${BOOK}b.vcf`]: ETAG }, token('t9')),
      t9: multistatus({ [`${BOOK}a.vcf`]: 404 }, token('t10')),
    }
    const { account, calls } = await scriptedDavBook(withTokens((sent) => pages[sent] ?? { status: 500 }))
    const steps = await sync(account, null)
    expect(idsOf(steps)).toEqual([`${BOOK}a.vcf`, `${BOOK}b.vcf`])
    expect(calls.filter(({ line, depth }) => line === `PROPFIND ${BOOK}` && depth === '1')).toEqual([])
    const changes = await sync(account, steps.at(-1)?.cursor ?? '')
    expect(changes.flatMap(({ removed }) => removed)).toEqual([`${BOOK}a.vcf`])
  })

  it.each<[title: string, reply: DavReply]>([
    ['refuses it', { status: 403 }],
    ['fails', { status: 500 }],
    ['lists nothing', multistatus({}, token('t9'))],
    ['gives no token', multistatus({ [`${BOOK}a.vcf`]: ETAG })],
    ['repeats a page for ever', multistatus({ [`${BOOK}a.vcf`]: ETAG, [BOOK]: 507 }, token('t9'))],
  ])('is made by PROPFIND where the server %s', async (_, reply) => {
    const { account } = await scriptedDavBook(withTokens(() => reply))
    const steps = await sync(account, null)
    expect(idsOf(steps)).toEqual([`${BOOK}1.vcf`])
    expect(JSON.parse(steps.at(-1)?.cursor ?? '')).toEqual({ kind: 'sync', value: 't1' })
  })

  it.each([
    ['a ctag', '<CS:getctag>7</CS:getctag>'],
    ['nothing that says what it is like', ''],
  ])('asks once which reports a server without sync tokens has, and lists it once with %s', async (_, ctag) => {
    const reports = REPORTS.replace('D:sync-collection', 'CR:addressbook-query')
    const { account, calls } = await scriptedDavBook(({ line, depth, body }) => {
      if (line !== `PROPFIND ${BOOK}` || depth !== '0') return undefined
      return multistatus({ [BOOK]: body.includes('supported-report-set') ? reports : ctag })
    })
    const steps = await sync(account, null)
    expect(idsOf(steps)).toEqual([`${BOOK}1.vcf`])
    const asked = calls.filter(({ line }) => line === `PROPFIND ${BOOK}`)
    expect(asked.map(({ depth }) => depth)).toEqual(['0', '0', '1'])
    // Nothing has changed since.
    expect(await sync(account, steps.at(-1)?.cursor ?? '')).toEqual([])
  })

  it('fails with the password, and asks for nothing more', async () => {
    const { account, calls } = await scriptedDavBook(withTokens(() => ({ status: 401 })))
    await expect(sync(account, null)).rejects.toMatchObject({ kind: 'auth_expired' })
    expect(calls.at(-1)?.line).toBe(`REPORT ${BOOK}`)
  })
})
