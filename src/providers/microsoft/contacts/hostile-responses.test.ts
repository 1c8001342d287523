import { describe, expect, it } from 'vitest'
import { drainSteps } from '../../../../test/servers/contact-steps.ts'
import { type ScriptedGraphResponse, scriptedGraph } from '../../../../test/servers/scripted-graph.ts'
import type { ContactsAccount } from '../../contract/index.ts'

const { signal } = new AbortController()

const sync = (account: ContactsAccount, cursor: string | null = null, again: string[] = []) =>
  drainSteps(account.syncContacts({ bookId: 'f1', cursor, again, signal }))

describe('responses of Graph that are not to be trusted', () => {
  it('reads partial contacts again, ends listings without an end, and folders that contain themselves', async () => {
    const script: Record<string, ScriptedGraphResponse> = {
      '/me/contacts/c1': { body: { id: 'c1', parentFolderId: 'f1', displayName: 'Zoë', emailAddresses: [] } },
      '/me/contacts/c2': { body: { id: 'c2', parentFolderId: 'deleted', displayName: 'Bob', emailAddresses: [] } },
      '/me/contacts/c3': { status: 500 },
      '/me/contactFolders/contacts': { body: { id: 'f1', displayName: 'Contacts' } },
      '/me/contactFolders/f1/childFolders': { body: { value: [{ id: 'f1' }, { id: 5 }, { id: 'f2' }] } },
      '/me/contactFolders/f2/childFolders': { body: { value: [{ id: 'f1' }, { id: 'f2' }] } },
    }
    const items = [
      { id: 'c1' },
      { id: 'c2' },
      { id: 'c3' },
      { id: 7 },
      { id: 'c4', displayName: 'A', emailAddresses: [] },
    ]
    let isEndless = false
    const { access, contacts, url, asked } = await scriptedGraph(({ path }) => {
      const link = `${url}/v1.0/me/contactFolders/f1/contacts/delta?$skiptoken=again`
      if (!path.endsWith('/delta')) return script[path] ?? { status: 404 }
      return { body: { value: items, [isEndless ? '@odata.nextLink' : '@odata.deltaLink']: link } }
    })
    const account = contacts.open(access)
    const step = await sync(account)
    expect(step.found.map(({ contactId }) => contactId)).toEqual(['c4', 'c1'])
    expect(step).toMatchObject({ removed: ['c2'], unreadable: [{ contactId: 'c3', isRefused: true }] })
    const again = await sync(account, step.cursor, ['c1', 'c9'])
    expect(again.removed).toContain('c9')
    expect((await account.listBooks(signal)).map(({ bookId }) => bookId)).toEqual(['f1', 'f2'])
    isEndless = true
    await expect(sync(account)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(asked.length).toBeLessThan(60)
    expect(asked.every(({ prefer }) => prefer.includes('IdType="ImmutableId"') || prefer === '')).toBe(true)
  })
})
