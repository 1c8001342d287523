import { expect, it } from 'vitest'
import { type ScriptedGraphResponse, scriptedGraph } from '../../../test/servers/scripted-graph.ts'
import type { MailAccess, MailboxSession, MailboxStep } from '../contract/index.ts'

const [ADA, SUPPORT] = ['ada@example.test', 'support@example.test']
const SUPPORT_ID = '0b0d1f2e-5a11-4d0c-9a5c-3f0b8a6e7c11'
const DELTA = "mailFolders('inbox')/messages/delta?$deltatoken=next"

/** Graph with the mailboxes of Ada and of support. Links of support's mailbox are `link`. */
async function openBoth(user: string, link: { kind: 'nextLink' | 'deltaLink'; url: string }) {
  const graph = await scriptedGraph(({ path }): ScriptedGraphResponse => {
    const isShared = path.startsWith('/users/')
    if (!path.includes('/delta')) return { body: { value: [] } }
    const url = isShared ? link.url : `/v1.0/me/${DELTA}`
    return { body: { value: [], [`@odata.${isShared ? link.kind : 'deltaLink'}`]: url } }
  })
  const shared: MailAccess = { ...graph.access, accountId: 'acc_2', email: SUPPORT, settings: { graph: { user } } }
  return { ...graph, own: graph.session(), shared: graph.mail.openSession(shared) }
}

async function sync(session: MailboxSession): Promise<MailboxStep[]> {
  const all: MailboxStep[] = []
  const { signal } = new AbortController()
  const request = { scope: 'inbox', cursor: null, initialMessages: 10, oldest: async () => null, signal }
  for await (const step of session.syncScope(request)) all.push(step)
  return all
}

const OTHERS = [
  ['/v1.0/users/eve@example.test/', /another mailbox/],
  ['/v1.0/users/eve%40example.test/', /another mailbox/],
  ['/v1.0/%75sers/Eve@Example.test/', /another mailbox/],
  [`/v1.0/users('${ADA}')/`, /another mailbox/],
  ['/v1.0/users(%27eve%40example.test%27)/', /another mailbox/],
  ['/v1.0/me/', /another mailbox/],
  ['/v1.0/ME/', /another mailbox/],
  ['/beta/users/eve@example.test/', /another mailbox/],
  ['/v1.0/users/support@example.test/../eve@example.test/', /another mailbox/],
  ['http://127.0.0.1:9/v1.0/users/support@example.test/', /another host \(127\.0\.0\.1:9\)/],
  ['//graph.example/v1.0/users/support@example.test/', /another host/],
] as const

it.each(OTHERS.flatMap(([before, why]) => (['nextLink', 'deltaLink'] as const).map((kind) => ({ kind, before, why }))))(
  "a shared mailbox's $kind to $before is refused as a failure of Graph",
  async ({ kind, before, why }) => {
    const graph = await openBoth(SUPPORT, { kind, url: before + DELTA })
    await expect(sync(graph.shared)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(why),
    })
    const paths = graph.asked.map(({ path }) => path)
    expect(paths.filter((path) => !path.startsWith(`/users/${SUPPORT}/`) && path !== '/$batch')).toEqual([])
    expect((await sync(graph.own)).at(-1)).toMatchObject({ cursor: expect.any(String) })
  },
)

it.each([
  [SUPPORT, `/v1.0/users/${SUPPORT}/`],
  [SUPPORT, '/v1.0/users/Support%40example.test/'],
  [SUPPORT, `/v1.0/users('${SUPPORT}')/`],
  // Graph may name the mailbox by its id.
  [SUPPORT, `/v1.0/users/${SUPPORT_ID}/`],
  [SUPPORT_ID, `/v1.0/users('${SUPPORT_ID}')/`],
  ["o'brien@example.test", `/v1.0/users/${SUPPORT_ID}/`],
  ["o'brien@example.test", "/v1.0/users('o''brien%40example.test')/"],
])('a link of the shared mailbox %s to %s is followed', async (user, before) => {
  const graph = await openBoth(user, { kind: 'deltaLink', url: before + DELTA })
  expect((await sync(graph.shared)).at(-1)).toMatchObject({ cursor: expect.any(String) })
})

it('a link to the mailbox with another id is refused', async () => {
  const url = `/v1.0/users/7f6c1b1e-1111-4d0c-9a5c-3f0b8a6e7c11/${DELTA}`
  const graph = await openBoth(SUPPORT_ID, { kind: 'deltaLink', url })
  await expect(sync(graph.shared)).rejects.toMatchObject({ kind: 'unavailable' })
})
