import { randomUUID } from 'node:crypto'
import { numberApiChange, readLive } from '../../accounts/index.ts'
import { deriveUuid } from '../../platform/crypto/derived-uuid.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError, invalid } from '../../platform/errors/app-error.ts'
import { cleanText } from '../../platform/formats/text.ts'
import type { ContactGroupEdits } from '../../providers/contract/index.ts'
import { countMembers, removeGroup } from '../groups.ts'
import { saveGroupChange, saveListedGroup, updateListedGroup } from '../listed-groups.ts'
import { type ContactAccessDeps, contactAccess, LIVE_MS } from '../read/access.ts'
import { getGroup } from '../read/reader.ts'
import { bookStore, type GroupRow } from '../store.ts'
import { CONTACTS_TOPIC } from '../topic.ts'

const MEMBERS_PER_TRANSACTION = 500

interface Opened {
  accountId: string
  edits: ContactGroupEdits
}

interface CountedGroup {
  row: GroupRow
  memberCount: number
}

/**
 * Changes groups of contacts for API requests: at the provider first, then in the store. A sync follows, which announces the contacts
 * that left a deleted group. Methods throw `not_found`, `consent_required`, `conflict` for a name that is taken, and `not_supported` where
 * the provider has no groups that can be changed.
 */
export function contactGroupChanger(deps: ContactAccessDeps) {
  const { db, bus, clock, ids, accounts } = deps
  const { open } = contactAccess(deps)

  async function openGroups(idOrAlias: string): Promise<Opened> {
    const { account, provider } = await open(idOrAlias, ['contacts.read', 'contacts.change'])
    const edits = provider.edits(await accounts.access(account.id)).groups
    if (edits !== undefined) return { accountId: account.id, edits }
    throw new AppError('not_supported', {
      message:
        'Groups of this account cannot be created, renamed or deleted. A category exists as long as a contact has it: change the groups of contacts.',
    })
  }

  async function openGroup(idOrAlias: string, groupId: string): Promise<Opened & { row: GroupRow }> {
    const opened = await openGroups(idOrAlias)
    const row = await getGroup(db.read, opened.accountId, groupId)
    if (row.isWritable === 1) return { ...opened, row }
    throw new AppError('not_supported', {
      message: `The provider manages the group "${row.name}". It cannot be renamed or deleted.`,
    })
  }

  /** A list of the groups that sync read before this change is stale: sync reads it again. */
  async function numberChange(tx: Tx, accountId: string): Promise<void> {
    await accounts.hold(tx, accountId)
    await saveGroupChange(tx, accountId, await numberApiChange(tx, accountId))
    tx.afterCommit(() => bus.publish(CONTACTS_TOPIC, accountId))
  }

  const counted = async (tx: Tx, row: GroupRow) => ({ row, memberCount: await countMembers(tx, row.id) })

  return {
    /** Creates a group at the provider; the function returned stores it. */
    async create(
      idOrAlias: string,
      body: { name: string },
      requestKey: string | null,
    ): Promise<(tx: Tx) => Promise<CountedGroup>> {
      const name = parseName(body.name)
      const { accountId, edits } = await openGroups(idOrAlias)
      const [book] = await bookStore(db.read).all(accountId)
      if (book === undefined) throw new AppError('not_supported', { message: 'The account has no address book.' })
      const request = {
        name,
        bookId: book.providerId,
        key: requestKey === null ? randomUUID() : deriveUuid(requestKey),
        signal: AbortSignal.timeout(LIVE_MS),
      }
      const group = await readLive(`The group "${name}"`, () => edits.createGroup(request))
      return async (tx) => {
        await numberChange(tx, accountId)
        return counted(tx, await saveListedGroup(tx, { ids, accountId, nowMs: clock.now() }, group))
      }
    },

    async rename(idOrAlias: string, groupId: string, body: { name: string }): Promise<CountedGroup> {
      const name = parseName(body.name)
      const { accountId, edits, row } = await openGroup(idOrAlias, groupId)
      const request = { groupId: row.providerId, name, signal: AbortSignal.timeout(LIVE_MS) }
      const group = await readLive(`The group "${name}"`, () => edits.renameGroup(request))
      return db.transaction(async (tx) => {
        await numberChange(tx, accountId)
        const current = await getGroup(tx, accountId, groupId)
        return counted(tx, await updateListedGroup(tx, current, group, clock.now()))
      })
    },

    /** Its contacts remain. They leave the group in small transactions; after a crash, the next sync removes the rest. */
    async remove(idOrAlias: string, groupId: string): Promise<void> {
      const { accountId, edits, row } = await openGroup(idOrAlias, groupId)
      const request = { groupId: row.providerId, signal: AbortSignal.timeout(LIVE_MS) }
      await readLive(`The group "${row.name}"`, () => edits.deleteGroup(request))
      const removeSome = () =>
        db.transaction(async (tx) => {
          await numberChange(tx, accountId)
          return removeGroup(tx, row.id, MEMBERS_PER_TRANSACTION)
        })
      while ((await removeSome()) > 0);
    },
  }
}

export type ContactGroupChanger = ReturnType<typeof contactGroupChanger>

function parseName(text: string): string {
  const name = cleanText(text).replaceAll(/\s+/g, ' ').trim()
  if (name === '') throw invalid('body.name', 'must not be empty')
  return name
}
