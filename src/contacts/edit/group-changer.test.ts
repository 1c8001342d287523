import { expect, it } from 'vitest'
import { testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { fence } from '../../accounts/cluster/index.ts'
import { catalogue } from '../../app/feature-list.ts'
import { recorder } from '../../events/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type {
  ContactGroupEdits,
  ContactsAccount,
  ContactsProvider,
  RemoteContactGroup,
} from '../../providers/contract/index.ts'
import { listBooks, listGroups } from '../sync/listing.ts'
import { contactGroupChanger } from './group-changer.ts'

/** A provider with these groups. `onListed` runs when a list was read, before the caller has it. */
function provider() {
  const groups = new Map<string, RemoteContactGroup>()
  const edits: ContactGroupEdits = {
    async createGroup({ name }) {
      const group = { groupId: `id of ${name}`, name, isWritable: true }
      groups.set(group.groupId, group)
      return group
    },
    async renameGroup({ groupId, name }) {
      const group = { groupId, name, isWritable: true }
      groups.set(groupId, group)
      return group
    },
    async deleteGroup({ groupId }) {
      groups.delete(groupId)
    },
  }
  const held = { onListed: async () => {}, lists: 0 }
  const account: Pick<ContactsAccount, 'listBooks' | 'listGroups'> = {
    listBooks: async () => [{ bookId: 'contacts', name: 'Contacts', isWritable: true, isDefault: true }],
    async listGroups() {
      const listed = [...groups.values()]
      held.lists += 1
      await held.onListed()
      return listed
    },
  }
  // The rest of the contract is not used here.
  const remote = account as ContactsAccount
  const contacts = { open: () => remote, edits: () => ({ groups: edits }) } as unknown as ContactsProvider
  return { remote, contacts, held }
}

describeEachDatabase('a change of groups of contacts', (open) => {
  it('is not undone by a list that sync read before it', async () => {
    const db = await open()
    const { accounts, bus, link } = testAccounts(db)
    const { id: accountId } = await link()
    const { remote, contacts, held } = provider()
    const shared = { db, bus, clock: systemClock, ids: idGenerator(systemClock) }
    const changer = contactGroupChanger({ ...shared, accounts, contacts: () => contacts, isEnabled: true })
    const events = recorder({ catalogue, ...shared })
    const { epoch } = await db.read.selectFrom('accounts').select('epoch').executeTakeFirstOrThrow()
    const { signal } = new AbortController()
    const owned = { accountId, epoch: Number(epoch), provider: 'imap', remote, signal } as const
    await listBooks({ ...shared, events, fence }, owned)
    const names = async () => {
      const rows = await db.read.selectFrom('contactGroups').select(['id', 'name']).orderBy('name').execute()
      return rows.map(({ id, name }) => `${id} ${name}`)
    }
    const create = async (name: string) => {
      const store = await changer.create(accountId, { name }, null)
      const { row } = await db.transaction(store)
      return row.id
    }
    /** Lists the groups, and changes one before the list is stored. */
    const listDuring = async (change: () => Promise<unknown>) => {
      held.lists = 0
      held.onListed = async () => {
        held.onListed = async () => {}
        await change()
      }
      await listGroups({ ...shared, events, fence }, owned)
      return held.lists
    }

    let team = ''
    expect(await listDuring(async () => (team = await create('Team')))).toBe(2)
    expect(await names()).toEqual([`${team} Team`])
    expect(await listDuring(() => changer.rename(accountId, team, { name: 'Crew' }))).toBe(2)
    expect(await names()).toEqual([`${team} Crew`])
    expect(await listDuring(() => changer.remove(accountId, team))).toBe(2)
    expect(await names()).toEqual([])
    expect(await listDuring(async () => {})).toBe(1)
  })
})
